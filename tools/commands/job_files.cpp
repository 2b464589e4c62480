// tools/commands/job_files.cpp — see job_files.hpp.
#include "tools/commands/job_files.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/exporters/reduced.hpp"
#include "report/job/reduced_table.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace fs = std::filesystem;

std::vector<fs::path> find_job_files(const std::vector<std::string>& arguments)
{
    std::vector<fs::path> files;
    for (const std::string& argument : arguments) {
        std::error_code problem;
        const std::size_t before = files.size();
        for (fs::directory_iterator at(argument, problem), end; !problem && at != end;
             at.increment(problem))
            if (at->path().extension() == ".jsonl")
                files.push_back(at->path());
        if (files.size() == before)
            for (const fs::path& log : find_logs({argument}))
                files.push_back(log);
    }
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return files;
}

void read_job_file(const fs::path& file, const report::Options& reading,
                   const std::function<void(std::istream&, const report::Report* of_log)>& show)
{
    char head[64] = {};
    std::ifstream in(file, std::ios::binary);
    in.read(head, sizeof head - 1);
    in.clear();
    in.seekg(0);
    if (report::is_reduced(head))
        return show(in, nullptr);
    if (file.extension() == ".jsonl")
        throw report::Error(report::Exit::bad_input,
                            fmt::format("{} is no reduced table", file.string()));
    std::stringstream table;
    const report::Report report = read_logs({file}, reading);
    report::write_reduced(table, report);
    show(table, &report);
}

} // namespace vramscope
