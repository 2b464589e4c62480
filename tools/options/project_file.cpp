// tools/options/project_file.cpp — lines of a word and what belongs to it.
#include "tools/options/project_file.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "tools/output/messages.hpp"

namespace vramscope {
namespace {

constexpr const char* kName = ".vramscope";

struct Word {
    std::string_view name;
    std::vector<std::string> ProjectFile::*list;
};
constexpr Word kWords[] = {{"fold", &ProjectFile::fold},
                           {"suppressions", &ProjectFile::suppressions},
                           {"path-map", &ProjectFile::paths},
                           {"source-url", &ProjectFile::source_url}};

std::string_view trimmed(std::string_view text)
{
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

void add_line(ProjectFile& file, std::string_view line, int number)
{
    const std::string_view name = line.substr(0, line.find_first_of(" \t"));
    const std::string_view rest = trimmed(line.substr(name.size()));
    for (const Word& word : kWords)
        if (word.name == name && !rest.empty()) {
            (file.*word.list).emplace_back(rest);
            return;
        }
    throw report::Error(report::Exit::usage,
                        fmt::format("{}:{}: '{}': write fold REGEX, suppressions FILE, path-map "
                                    "OLD=NEW or source-url URL",
                                    kName, number, line));
}

// Whoever may write it chooses which leaks are not told.
bool is_trusted(const struct stat& status)
{
    return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

ProjectFile read_project_file()
{
    ProjectFile file;
    struct stat status {};
    if (::stat(kName, &status) != 0)
        return file;
    if (!is_trusted(status)) {
        warn(fmt::format("{} is not read: it must be a file of your own that nobody else can write",
                         kName));
        return file;
    }
    detail(fmt::format("reads {}", kName));
    std::ifstream lines(kName);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        if (const std::string_view text = trimmed(line); !text.empty() && text.front() != '#')
            add_line(file, text, number);
    return file;
}

} // namespace

const ProjectFile& project_file()
{
    static const ProjectFile file = read_project_file();
    return file;
}

} // namespace vramscope
