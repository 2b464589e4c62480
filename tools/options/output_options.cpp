// tools/options/output_options.cpp — see output_options.hpp.
#include "tools/options/output_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/page/page.hpp"

namespace vramscope {

void add_json_options(CLI::App& command, std::string& json, bool& force, const std::string& what,
                      const std::string& force_help)
{
    command.add_option("--json", json, "write " + what + " for machines; - is stdout")
        ->option_text("FILE");
    command.add_flag("-f,--force", force, force_help);
}

void add_html_option(CLI::App& command, std::string& html)
{
    command.add_option("--html", html, "write the report as a page for a browser; - is stdout")
        ->option_text("FILE");
}

Output page_output(const std::string& html, std::vector<std::filesystem::path> taken,
                   const std::string& json, bool force)
{
    if (const std::string_view why = report::why_no_pages(); !html.empty() && !why.empty())
        throw report::Error(
            report::Exit::usage,
            fmt::format("--html: this vramscope was built without pages, as {}: mend that, run "
                        "cmake again, which says whether it has what pages need, and build",
                        why));
    if (html == "-" && json == "-")
        throw report::Error(report::Exit::usage,
                            "--html and --json cannot both go to stdout: give one a file");
    if (!json.empty() && json != "-")
        taken.emplace_back(json);
    return Output(html, taken, force);
}

std::vector<std::filesystem::path> inputs(const std::vector<std::filesystem::path>& logs,
                                          const SuppressionOptions& suppressions,
                                          const std::string& budget)
{
    std::vector<std::filesystem::path> files = suppression_files(suppressions);
    files.insert(files.end(), logs.begin(), logs.end());
    if (!budget.empty())
        files.emplace_back(budget);
    return files;
}

} // namespace vramscope
