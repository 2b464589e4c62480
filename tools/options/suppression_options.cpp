// tools/options/suppression_options.cpp — files of rules, from options and the environment.
#include "tools/options/suppression_options.hpp"

#include <cstdlib>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/options/project_file.hpp"
#include "tools/output/messages.hpp"

namespace vramscope {

void add_suppression_options(CLI::App& command, SuppressionOptions& options)
{
    constexpr const char* kGroup = "Known leaks";
    command
        .add_option("--suppressions", options.files,
                    "known leaks, a line each: leak:PATTERN, as LeakSanitizer reads it; may be "
                    "repeated")
        ->allow_extra_args(false)
        ->option_text("FILE")
        ->group(kGroup);
    command
        .add_flag_callback(
            "--no-builtin-suppressions", [&options] { options.built_in = false; },
            "list what NVIDIA's libraries keep to the end, too")
        ->group(kGroup);
}

std::vector<std::filesystem::path> suppression_files(const SuppressionOptions& options)
{
    std::vector<std::filesystem::path> files;
    const char* const named = std::getenv("VRAMSCOPE_SUPPRESSIONS");
    for (std::string_view list = named ? named : ""; !list.empty();) {
        const std::string_view file = list.substr(0, list.find(':'));
        if (!file.empty())
            files.emplace_back(file);
        list.remove_prefix(std::min(file.size() + 1, list.size()));
    }
    for (const auto* const more : {&project_file().suppressions, &options.files})
        files.insert(files.end(), more->begin(), more->end());
    return files;
}

report::Suppressions read_suppressions(const SuppressionOptions& options)
{
    report::Suppressions suppressions;
    for (const std::filesystem::path& file : suppression_files(options)) {
        detail(fmt::format("reads the suppressions {}", file.string()));
        suppressions.add_file(file);
    }
    if (options.built_in)
        suppressions.add_built_in();
    return suppressions;
}

} // namespace vramscope
