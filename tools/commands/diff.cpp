// tools/commands/diff.cpp — did a change make it worse? Two logs, or two folders of them.
#include <memory>
#include <ostream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/json/json.hpp"
#include "report/judge/judge.hpp"
#include "report/model/comparison.hpp"
#include "report/page/page.hpp"
#include "report/rules/read_rules.hpp"
#include "report/text/views.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kDiffFooter =
    R"(Call stacks are matched by function names, from the API outwards: what moved to another line, file or address is the
same. All processes of a side are taken together: leaks and calls are added up, of peaks the highest counts. Of runs
under `run --reach` it tells which leaks were held and are lost now; objects, contexts and owners judge nothing.

Ends 0 when it gave a comparison. With --fail-on-regression: 101 if a leak is new or has more bytes, or a peak, the
driver's calls, failures for want of memory or wrong frees are more; 110 or 111 if the logs do not show it. 120 if a
file is no readable log; 125 for wrong usage.

Examples:
  vramscope diff main.vsl branch.vsl
  vramscope diff --owners teams.rules main.vsl branch.vsl            and each owner's memory in both
  vramscope diff --html diff.html main.vsl branch.vsl                to look at in a browser
  vramscope diff --fail-on-regression --tolerance 2 baseline/ logs/
  vramscope diff --sysroot /srv/rootfs main.vsl branch.vsl           recorded in a container with this root
)";

struct DiffOptions {
    std::string base;
    std::string now;
    OutputOptions output;
    double tolerance = 5; // in percent
    bool fail = false;
    std::string owners; // a file of rules; empty: none are named
    SuppressionOptions suppressions;
    SourceOptions sources;
    SymbolOptions symbols; // for both sides: a file of another build is not used
};

int diff_logs(const DiffOptions& options)
{
    if (!(options.tolerance >= 0 && options.tolerance <= 1000))
        throw report::Error(
            report::Exit::usage,
            fmt::format("--tolerance {}: write a percentage from 0 to 1000", options.tolerance));
    report::Options reading;
    if (!options.owners.empty())
        report::add_owners_file(reading.rules, options.owners);
    reading.suppressions = read_suppressions(options.suppressions);
    reading.symbols = read_symbol_options(options.symbols);
    const report::PageSources sources = read_source_options(options.sources, reading.symbols);
    reading.for_page = !options.output.html.empty();
    const std::vector<std::filesystem::path> base_logs = find_logs({options.base});
    const std::vector<std::filesystem::path> new_logs = find_logs({options.now});
    std::vector<std::filesystem::path> taken =
        inputs(base_logs, options.suppressions, {options.owners});
    taken.insert(taken.end(), new_logs.begin(), new_logs.end());
    const Output json(options.output.json, taken, options.output.force);
    const Output html = page_output(options.output, taken);
    const report::Report base = read_logs(base_logs, reading);
    report::Report now = read_logs(new_logs, reading);
    for (const report::UnreadFile& file : base.unread_files)
        now.unread_files.push_back(file); // names of either side decide what is the same
    report::follow_moved_lines(base, now);
    const report::Comparison comparison = report::compare(base, now, options.tolerance / 100);
    if (html.wanted())
        write_page(html, report::page_of(comparison, base, now, sources), options.output);
    write_found(
        json, options.output,
        [&](std::ostream& out, const report::JsonStyle& style) {
            report::write_comparison_json(out, comparison, base, now, style);
        },
        [&](std::ostream& out) {
            report::write_comparison(out, comparison, now, style_for(STDOUT_FILENO));
        });
    return options.fail ? static_cast<int>(comparison.exit) : 0;
}

} // namespace

void add_diff(CommandLine& line)
{
    const auto options = std::make_shared<DiffOptions>();
    CLI::App& command = line.add("diff", "two runs side by side: did it become worse?", kDiffFooter,
                                 diff_logs, options);
    command.add_option("BASE", options->base, "a log, or a folder of them: before")->required();
    command.add_option("NEW", options->now, "after")->required();
    add_output_options(command, options->output, "the comparison");
    add_source_options(command, options->sources);
    command.add_flag("--fail-on-regression", options->fail, "end 101 if anything became worse");
    command
        .add_option("--tolerance", options->tolerance,
                    "by how much peaks and driver calls may be more: 5")
        ->option_text("PERCENT");
    command
        .add_option("--owners", options->owners,
                    "sum up memory by the owners that a file of rules names")
        ->option_text("FILE");
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
