// tools/options/ci_format_options.cpp — see ci_format_options.hpp.
#include "tools/options/ci_format_options.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <ostream>
#include <sstream>
#include <sys/random.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/ci_formats/ci_formats.hpp"
#include "report/error.hpp"
#include "tools/options/source_options.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

using report::Error;
using report::Exit;

using WriteCiFormat = void (*)(std::ostream&, const report::CheckedRun&);

struct CiFormat {
    const char* option;
    const char* help;
    std::string CiFormatOptions::*file;
    WriteCiFormat write;
};

// clang-format off
constexpr std::array kCiFormats{
    CiFormat{"--sarif", "write the findings as SARIF 2.1.0, for code scanning and editors; - is stdout",
                  &CiFormatOptions::sarif, &report::write_sarif},
    CiFormat{"--junit", "write the check as JUnit XML, for lists of tests",
                  &CiFormatOptions::junit, &report::write_junit},
    CiFormat{"--gitlab", "write the findings as GitLab's code quality report",
                  &CiFormatOptions::gitlab, &report::write_gitlab},
};
// clang-format on

fs::path root_of(const CiFormatOptions& options)
{
    if (options.source_root.empty())
        return repository();
    std::error_code unknown;
    return fs::absolute(options.source_root, unknown);
}

std::string text_of(WriteCiFormat write, const report::CheckedRun& checked)
{
    std::ostringstream out;
    write(out, checked);
    return out.str();
}

// What a job's earlier steps wrote there stays.
void append(const std::string& file, const std::string& text)
{
    const int descriptor =
        ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool written = descriptor >= 0 && ::write(descriptor, text.data(), text.size()) ==
                                                static_cast<ssize_t>(text.size());
    const int problem = errno;
    if (descriptor >= 0)
        ::close(descriptor);
    if (!written)
        throw Error(Exit::usage, fmt::format("cannot write {} (GITHUB_STEP_SUMMARY): {}", file,
                                             std::strerror(problem)));
}

// A word that no name in a log can know.
std::string unguessable()
{
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw Error(Exit::usage, "the system has no random numbers for --github");
    std::string word = "vramscope-";
    for (const unsigned char byte : bytes)
        word += fmt::format("{:02x}", byte);
    return word;
}

[[noreturn]] void refuse_stdout()
{
    throw Error(Exit::usage, "--github needs stdout for its annotations: give the others a file");
}

// Calls `use` with the problems that the check has found.
template <typename Use>
void with_problems(const fs::path& root, const report::Check& check, const report::Report& report,
                   Use use)
{
    const report::SourcePaths paths(root);
    const std::vector<report::Problem> problems = report::find_problems(check, report, paths);
    use(report::CheckedRun{check, report, paths, problems, VRAMSCOPE_VERSION});
}

} // namespace

struct CiFormatFiles::File {
    std::unique_ptr<Output> output;
    WriteCiFormat write;
};

void add_ci_format_options(CLI::App& command, CiFormatOptions& options, CLI::Option* check)
{
    std::vector<CLI::Option*> added;
    for (const CiFormat& format : kCiFormats)
        added.push_back(command.add_option(format.option, options.*format.file, format.help)
                            ->option_text("FILE"));
    added.push_back(
        command.add_flag("--github", options.github,
                         "for GitHub Actions: annotations, and a section of the job's page"));
    added.push_back(
        command
            .add_option("--source-root", options.source_root,
                        "the repository's folder where the program was compiled; else the one "
                        "around the working directory")
            ->option_text("DIR"));
    for (CLI::Option* const option : added) {
        option->group("For CI servers");
        if (check)
            option->needs(check)->group("With --check");
    }
}

CiFormatFiles::CiFormatFiles(const CiFormatOptions& options, const std::vector<fs::path>& inputs,
                             const std::string& json, bool force)
    : github_(options.github), root_(root_of(options))
{
    if (github_ && json == "-")
        refuse_stdout();
    std::vector<std::string> outputs{json};
    for (const CiFormat& format : kCiFormats) {
        const std::string& name = options.*format.file;
        if (name.empty())
            continue;
        if (github_ && name == "-")
            refuse_stdout();
        auto output = std::make_unique<Output>(name, inputs, force);
        for (const std::string& other : outputs) {
            if (other == "-" && output->is_stdout())
                throw Error(Exit::usage, fmt::format("{} goes to stdout, and so does something "
                                                     "else: give one of them a file",
                                                     format.option));
            if (!other.empty() && other != "-")
                output->keep_off(other);
        }
        outputs.push_back(name);
        files_.push_back({std::move(output), format.write});
    }
    const char* const summary = std::getenv("GITHUB_STEP_SUMMARY");
    if (github_ && summary && *summary) {
        summary_ = summary;
        Output::keep_apart(summary_, inputs);
    }
}

CiFormatFiles::~CiFormatFiles() = default;

bool CiFormatFiles::on_stdout() const
{
    for (const File& file : files_)
        if (file.output->is_stdout())
            return true;
    return false;
}

void CiFormatFiles::keep_off(const fs::path& taken) const
{
    for (const File& file : files_)
        file.output->keep_off(taken);
}

void CiFormatFiles::write(const report::Check& check, const report::Report& report) const
{
    if (files_.empty())
        return;
    with_problems(root_, check, report, [&](const report::CheckedRun& checked) {
        for (const File& file : files_)
            write_text_to(*file.output, text_of(file.write, checked));
    });
}

void CiFormatFiles::tell(std::ostream& out, const report::Check& check,
                         const report::Report& report,
                         const std::function<void(std::ostream&)>& text) const
{
    if (!github_) {
        text(out);
        return;
    }
    const std::string word = unguessable();
    out << "::stop-commands::" << word << '\n';
    text(out);
    out << "::" << word << "::\n";
    with_problems(root_, check, report, [&](const report::CheckedRun& checked) {
        report::write_github_annotations(out, checked);
        if (!summary_.empty())
            append(summary_, text_of(&report::write_github_summary, checked));
    });
}

} // namespace vramscope
