// tools/commands/job_files.cpp — see job_files.hpp.
#include "tools/commands/job_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/exporters/reduced.hpp"
#include "report/job/reduced_table.hpp"
#include "report/job/table_owners.hpp"
#include "report/log/log_file.hpp"
#include "report/words/words.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

// Of what is no table a team may have much beside its logs.
std::vector<fs::path> tables_in(const fs::path& folder)
{
    std::vector<fs::path> tables;
    std::vector<fs::path> others;
    std::error_code problem; // what it is, logs_in() says
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
         at.increment(problem))
        if (at->path().extension() == ".jsonl")
            (report::is_no_table(at->path()) ? others : tables).push_back(at->path());
    std::sort(tables.begin(), tables.end());
    std::sort(others.begin(), others.end());
    if (others.size() == 1)
        say(fmt::format("{} is no reduced table, and is left out", others.front().string()));
    else if (!others.empty())
        say(fmt::format("{} and {} of its folder are no reduced tables, and are left out",
                        others.front().string(), report::counted(others.size() - 1, "other file")));
    return tables;
}

using Process = std::pair<std::uint64_t, std::uint64_t>; // its number, and when it began

std::optional<Process> process_of(const fs::path& log)
{
    try {
        const report::LogFile file = report::LogFile::open(log, report::LogFile::Collected::taken);
        if (file.header().start_real_ns != 0)
            return Process(file.header().pid, file.header().start_real_ns);
    } catch (const report::Error&) { // whoever reads it says what is wrong
    }
    return std::nullopt;
}

// By what they say, as a table may have any name and be of many processes. By its name where a log
// does not say it: of what was imported no time may be known.
std::vector<fs::path> logs_without_table(const std::vector<fs::path>& logs,
                                         const std::vector<fs::path>& sorted_tables)
{
    std::set<Process> reduced;
    if (!logs.empty())
        for (const fs::path& table : sorted_tables)
            for (const report::TableOwner& owner : report::owners_of_table(table))
                reduced.emplace(owner.pid, owner.started_ns);
    std::vector<fs::path> without;
    std::copy_if(logs.begin(), logs.end(), std::back_inserter(without), [&](const fs::path& log) {
        const std::optional<Process> process = process_of(log);
        return process ? !reduced.contains(*process)
                       : !std::binary_search(sorted_tables.begin(), sorted_tables.end(),
                                             fs::path(log.string() + ".jsonl"));
    });
    return without;
}

bool begins_as_table(std::ifstream& in)
{
    char head[64] = {};
    in.read(head, sizeof head - 1);
    in.clear();
    in.seekg(0);
    return report::is_reduced(head);
}

} // namespace

std::vector<fs::path> find_job_files(const std::vector<std::string>& arguments)
{
    std::vector<fs::path> files = with_folders(arguments, [](const std::string& folder) {
        std::vector<fs::path> found = tables_in(folder);
        const std::vector<fs::path> logs = logs_without_table(logs_in(folder), found);
        found.insert(found.end(), logs.begin(), logs.end());
        if (found.empty())
            throw report::Error(
                report::Exit::bad_input,
                fmt::format("{}: a folder without any reduced table or log (*.vsl)", folder));
        return found;
    });
    std::sort(files.begin(), files.end());
    return each_once(files);
}

void read_job_file(const fs::path& file, const report::Options& reading,
                   const std::function<void(std::istream&, const report::Report* of_log)>& show)
{
    refuse_irregular(file);
    std::ifstream in(file, std::ios::binary);
    if (begins_as_table(in))
        return show(in, nullptr);
    if (file.extension() == ".jsonl")
        throw report::Error(report::Exit::bad_input,
                            fmt::format("{} is no reduced table", file.string()));
    std::stringstream table;
    const report::Report report = read_logs({file}, reading);
    report::write_reduced(table, report);
    show(table, &report);
}

void refuse_rules_for_tables(const std::vector<fs::path>& files, const SuppressionOptions& options)
{
    if (options.files.empty() && options.built_in)
        return;
    for (const fs::path& file : files) {
        std::error_code unknown;
        if (!fs::is_regular_file(file, unknown))
            continue; // whoever reads it says what is wrong
        std::ifstream in(file, std::ios::binary);
        if (begins_as_table(in))
            throw report::Error(
                report::Exit::usage,
                fmt::format("{}: {} is a reduced table, in which leaks were summed "
                            "up; give rules to `vramscope reduce` of its log",
                            options.files.empty() ? "--no-builtin-suppressions" : "--suppressions",
                            file.string()));
    }
}

} // namespace vramscope
