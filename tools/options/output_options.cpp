// tools/options/output_options.cpp — see output_options.hpp.
#include "tools/options/output_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/page/page.hpp"
#include "report/words/words.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/desktop.hpp"
#include "tools/output/messages.hpp"

namespace vramscope {

namespace {

// By the ending of its name.
void put_out(OutputOptions& options, const std::string& name)
{
    const std::filesystem::path ending = std::filesystem::path(name).extension();
    if (ending != ".html" && ending != ".json")
        throw report::Error(report::Exit::usage,
                            fmt::format("-o {}: write a name that ends in .html or .json, for a "
                                        "page or for JSON",
                                        report::shell_quoted(name)));
    std::string& place = ending == ".html" ? options.html : options.json;
    if (!place.empty())
        throw report::Error(report::Exit::usage,
                            fmt::format("-o {}: {} is written already: give one name for it",
                                        report::shell_quoted(name),
                                        ending == ".html" ? "--html" : "--json"));
    place = name;
    options.by_o = true;
}

void choose_color(const std::string& when)
{
    const std::pair<std::string_view, Color> kColors[] = {
        {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};
    for (const auto& [word, color] : kColors)
        if (when == word)
            return use_color(color);
    throw report::Error(report::Exit::usage, fmt::format("--color {}: write auto, always or never",
                                                         report::shell_quoted(when)));
}

} // namespace

void add_json_options(CLI::App& command, OutputOptions& options, const std::string& what,
                      const std::string& force_help)
{
    command.add_option("--json", options.json, "write " + what + " for machines; - is stdout")
        ->option_text("FILE");
    command.add_flag("-f,--force", options.force, force_help);
}

void add_pool_blocks_option(CLI::App& command, OutputOptions& options)
{
    command.add_flag("--pool-blocks", options.pool_blocks,
                     "in the JSON, each block of the pool's segments too");
}

void add_html_options(CLI::App& command, OutputOptions& options)
{
    command
        .add_option("--html", options.html, "write the report as a page for a browser; - is stdout")
        ->option_text("FILE");
    command.add_flag("--open", options.open, "open that page in a browser");
}

void add_output_options(CLI::App& command, OutputOptions& options, const std::string& what)
{
    add_json_options(command, options, what);
    add_html_options(command, options);
    // Behind both: it is read last, and so knows what they name.
    command
        .add_option_function<std::string>(
            "-o,--output", [&options](const std::string& name) { put_out(options, name); },
            "FILE.html or FILE.json: as --html or --json")
        ->option_text("FILE");
    offer(command
              .add_option_function<std::string>("--color", choose_color,
                                                "auto, always or never; auto: on terminals, unless "
                                                "NO_COLOR is set")
              ->option_text("WHEN"),
          {"auto", "always", "never"});
    command.add_flag_callback("--no-pager", use_no_pager,
                              "on a terminal, do not show it in $VRAMSCOPE_PAGER, $PAGER or less");
}

Output page_output(const OutputOptions& options, std::vector<std::filesystem::path> taken)
{
    const std::string& html = options.html;
    if (options.open && (html.empty() || html == "-"))
        throw report::Error(report::Exit::usage,
                            "--open opens the page that --html FILE writes: name a file there");
    if (const std::string_view why = report::why_no_pages(); !html.empty() && !why.empty())
        throw report::Error(
            report::Exit::usage,
            fmt::format("--html: this vramscope was built without pages, as {}: use one that has "
                        "them; all other outputs are the same",
                        why));
    if (html == "-" && options.json == "-")
        throw report::Error(report::Exit::usage,
                            "--html and --json cannot both go to stdout: give one a file");
    if (!options.json.empty() && options.json != "-")
        taken.emplace_back(options.json);
    return Output(html, taken, options.force);
}

std::vector<std::filesystem::path> inputs(const std::vector<std::filesystem::path>& logs,
                                          const SuppressionOptions& suppressions,
                                          const std::vector<std::string>& others)
{
    std::vector<std::filesystem::path> files = suppression_files(suppressions);
    files.insert(files.end(), logs.begin(), logs.end());
    for (const std::string& other : others)
        if (!other.empty())
            files.emplace_back(other);
    return files;
}

void write_found(const Output& json, const OutputOptions& options, const WriteJson& write_json,
                 const std::function<void(std::ostream&)>& write_text)
{
    write_results(json, write_json, [&](std::ostream& out) {
        if (!options.in_place_of_text())
            write_text(out);
    });
    if (options.by_o && json.wanted() && !json.is_stdout() && !options.quiet)
        say(fmt::format("json: {}", json.name()));
}

void write_page(const Output& output, const std::string& page, const OutputOptions& options)
{
    write_text_to(output, page);
    if (!output.is_stdout() && !options.quiet)
        say(fmt::format("page: {}", output.name()));
    if (options.open)
        open_in_browser(output.name());
}

} // namespace vramscope
