// tools/options/source_options.cpp — a link leads where its template says, whatever a log names.
#include "tools/options/source_options.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "tools/options/project_file.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCharacters = 1000;
// Hosts of repositories, and editors that open a file by an address. None of them runs what is in
// it, as javascript: and data: do.
constexpr std::string_view kSchemes[] = {"https",    "http",    "vscode", "vscode-insiders",
                                         "vscodium", "cursor",  "zed",    "idea",
                                         "clion",    "pycharm", "subl",   "txmt"};
constexpr std::string_view kPlaces[] = {"{file}", "{path}", "{line}"};

bool is_plain(char c)
{
    constexpr std::string_view kNever = "\"'<>\\^`|";
    return c > ' ' && c < '\x7f' && kNever.find(c) == std::string_view::npos;
}

std::string without_places(std::string url)
{
    for (const std::string_view place : kPlaces)
        for (std::size_t at = url.find(place); at != std::string::npos; at = url.find(place, at))
            url.erase(at, place.size());
    return url;
}

// What is wrong with it; empty: nothing. No name of a log may choose the scheme or the host.
std::string_view fault_of(const std::string& url)
{
    const std::size_t colon = url.find("://");
    if (colon == std::string::npos || std::find(std::begin(kSchemes), std::end(kSchemes),
                                                url.substr(0, colon)) == std::end(kSchemes))
        return "it must begin with https:// or the scheme of an editor, as vscode://";
    const std::string_view rest = std::string_view(url).substr(colon + 3);
    const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
    if (host.empty() || host.size() == rest.size() || host.find('{') != std::string_view::npos)
        return "the name of a host and a / must come first";
    if (!std::all_of(url.begin(), url.end(), is_plain) || url.size() > kMostCharacters)
        return "write other characters than those of addresses as %20";
    if (without_places(url).find_first_of("{}") != std::string::npos)
        return "in braces only {file}, {path} and {line} may stand";
    if (url.find("{file}") == std::string::npos && url.find("{path}") == std::string::npos)
        return "it needs {file}, the file in the repository, or {path}, its whole path";
    return {};
}

// `name`: where it was written.
void check_url(std::string_view name, const std::string& url)
{
    if (const std::string_view fault = fault_of(url); !fault.empty())
        throw report::Error(
            report::Exit::usage,
            fmt::format("{} '{}': {}: https://host/me/app/blob/main/{{file}}#L{{line}}", name, url,
                        fault));
}

} // namespace

void add_source_options(CLI::App& command, SourceOptions& options)
{
    command
        .add_option(
            "--source-url", options.url,
            "on the page, file:line is a link: https://host/me/app/blob/main/{file}#L{line}, "
            "or vscode://file/{path}:{line}")
        ->option_text("URL")
        ->needs("--html");
    command
        .add_flag(
            "--source", options.lines,
            "put five lines of the sources that are here into the page, around each line that "
            "it names")
        ->needs("--html");
}

fs::path repository()
{
    std::error_code ignored;
    const fs::path here = fs::current_path(ignored);
    for (fs::path folder = here; !folder.empty(); folder = folder.parent_path()) {
        if (fs::exists(folder / ".git", ignored))
            return folder;
        if (folder == folder.root_path())
            break;
    }
    return here;
}

report::PageSources read_source_options(const SourceOptions& options,
                                        const report::SymbolizerOptions& symbols,
                                        const std::string& root)
{
    report::PageSources sources;
    const std::vector<std::string>& of_project = project_file().source_url;
    sources.url = options.url;
    if (!options.url.empty()) {
        check_url("--source-url", options.url);
    } else if (!of_project.empty()) {
        sources.url = of_project.back();
        check_url(".vramscope: source-url", sources.url);
    }
    std::error_code unknown;
    sources.root = root.empty() ? repository() : fs::absolute(root, unknown).lexically_normal();
    if (options.lines)
        sources.lines.emplace(symbols.sysroot, symbols.path_maps);
    return sources;
}

} // namespace vramscope
