// tools/options/symbol_options.cpp — a wrong place is told before a log is read.
#include "tools/options/symbol_options.hpp"

#include <filesystem>
#include <regex>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/symbols/debuginfod.hpp"
#include "tools/options/project_file.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

report::PathMap path_map(const std::string& argument)
{
    const std::size_t equals = argument.find('=');
    const std::string from = argument.substr(0, equals);
    const std::string to = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (!fs::path(from).is_absolute() || to.empty())
        throw report::Error(
            report::Exit::usage,
            fmt::format("--path-map {}: write OLD=NEW, where OLD is an absolute path of the "
                        "traced program: /app=/home/me/app",
                        argument));
    return {from, to};
}

void check_expression(const std::string& expression)
{
    try {
        const std::regex read(expression, std::regex::ECMAScript);
    } catch (const std::regex_error&) {
        throw report::Error(report::Exit::usage,
                            fmt::format("--fold '{}': this is no regular expression; write a part "
                                        "of a function's name, with \\ before any of ( ) [ ] * + "
                                        "? . |",
                                        expression));
    }
}

} // namespace

void add_symbol_options(CLI::App& command, SymbolOptions& options)
{
    command
        .add_option("--sysroot", options.sysroot,
                    "the root of the container or machine that the log is from: names are read "
                    "from the files below it")
        ->option_text("DIR")
        ->group(kNamesGroup);
    command
        .add_option("--path-map", options.paths,
                    "what the program had at OLD, a file or a folder, is at NEW here; may be "
                    "repeated")
        ->allow_extra_args(false)
        ->option_text("OLD=NEW")
        ->group(kNamesGroup);
    command
        .add_flag("--debuginfod", options.debuginfod,
                  "ask the servers that DEBUGINFOD_URLS names for debug information that is not "
                  "here; without it nothing is asked")
        ->group(kNamesGroup);
}

void add_fold_option(CLI::App& command, SymbolOptions& options)
{
    command
        .add_option("--fold", options.fold,
                    "functions with such a name allocate for others: rows are named by their "
                    "callers; may be repeated")
        ->allow_extra_args(false)
        ->option_text("REGEX")
        ->group(kNamesGroup);
}

void add_all_frames_option(CLI::App& command, bool& all_frames)
{
    command
        .add_flag("--all-frames", all_frames,
                  "show the frames of libraries, the CUDA runtime and vramscope too")
        ->group(kNamesGroup);
}

report::SymbolizerOptions read_symbol_options(const SymbolOptions& options)
{
    std::error_code unknown;
    if (!options.sysroot.empty() && !fs::is_directory(options.sysroot, unknown))
        throw report::Error(report::Exit::usage,
                            fmt::format("--sysroot {}: there is no such folder", options.sysroot));
    report::SymbolizerOptions symbols;
    symbols.sysroot = options.sysroot;
    for (const auto* const paths : {&options.paths, &project_file().paths})
        for (const std::string& path : *paths)
            symbols.path_maps.push_back(path_map(path));
    std::string why_not;
    if (options.debuginfod && !report::Debuginfod::open(why_not))
        throw report::Error(report::Exit::usage, "--debuginfod: " + why_not);
    symbols.debuginfod = options.debuginfod;
    symbols.fold = options.fold;
    symbols.fold.insert(symbols.fold.end(), project_file().fold.begin(), project_file().fold.end());
    for (const std::string& expression : symbols.fold)
        check_expression(expression);
    return symbols;
}

} // namespace vramscope
