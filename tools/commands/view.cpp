// tools/commands/view.cpp — report, leaks and the other views.
//
// Each of them reads logs and prints a part of what they say.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "report/page/page.hpp"
#include "report/rules/read_rules.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kept_names.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/row_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/interrupt.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kViewFooter =
    R"(Ends 0 when it gave a report, a partial one included; 120 if a file is no readable log; 125 for wrong usage.

Examples:
)";

struct View {
    const char* name;
    const char* what;     // one line of `vramscope --help`
    const char* examples; // at the end of its own help
    void (*write)(std::ostream& out, const report::Report& report, const report::TextStyle& style);
    std::size_t orders = 0; // of kRowOrders, which its call stacks can have; 0: it lists none
    bool of_leaks = false;  // blocks that were not freed are what it lists: --from is for it
    bool of_memory = true;  // --owners sums it up
};

// clang-format off
constexpr std::array kViews{
    View{"report", "everything that the logs say",
         "  vramscope report vramscope.train.4711.vsl\n"
         "  vramscope report --html report.html train.vsl              to look at in a browser\n"
         "  vramscope report logs/                       every *.vsl in a folder, as one\n"
         "  vramscope report --json - train.vsl | jq '.verdict'\n"
         "  vramscope report --until 12.5s --html then.html train.vsl  who sat where at that time\n"
         "  vramscope report --sysroot /srv/rootfs train.vsl           recorded in a container with this root\n"
         "  vramscope report --path-map /app=build/app train.vsl       what was below /app there is here now\n",
         report::write_report, 4},
    View{"leaks", "what was never freed, by call stack",
         "  vramscope leaks vramscope.train.4711.vsl\n"
         "  vramscope leaks -n 3 --sort growth train.vsl               the three that grow fastest\n"
         "  vramscope leaks --match load_labels train.vsl              those that this function leads to\n"
         "  vramscope leaks --from 12.5s train.vsl                     what was allocated later than that\n"
         "  vramscope leaks --json - train.vsl | jq '.summary'\n"
         "  vramscope leaks --sysroot /srv/rootfs train.vsl            recorded in a container with this root\n",
         report::write_leaks, 4, true},
    View{"peak", "what the peak of each device was made of, and what could be saved",
         "  vramscope peak vramscope.train.4711.vsl\n"
         "  vramscope peak --json - train.vsl | jq '.processes[].device_memory[].peak'\n",
         report::write_peak, 2},
    View{"timeline", "a chart of each device's memory over time",
         "  vramscope timeline vramscope.train.4711.vsl\n"
         "  vramscope timeline --json - train.vsl | jq '.processes[].device_memory[].timeline'\n",
         report::write_timeline},
    View{"frag", "how the memory of each device was made up, and what of it was of no use",
         "  vramscope frag vramscope.train.4711.vsl\n"
         "  vramscope frag --json - train.vsl | jq '.processes[].device_memory[].at_peak'\n",
         report::write_fragmentation},
    View{"churn", "how often memory is allocated and freed, what that costs, and where",
         "  vramscope churn vramscope.train.4711.vsl\n"
         "  vramscope churn --json - train.vsl | jq '.processes[0].churn.driver'\n",
         report::write_churn, 2},
    View{"objects", "streams, events, graphs, modules: how many were made, ended and left, by call stack",
         "  vramscope objects vramscope.train.4711.vsl\n"
         "  vramscope objects --json - train.vsl | jq '.objects[] | select(.class == \"growing\")'\n",
         report::write_objects, 4},
    View{"contexts", "each context: who opened it, what ended it, and what was done in it",
         "  vramscope contexts vramscope.train.4711.vsl\n"
         "  vramscope contexts --json - train.vsl | jq '.contexts[] | select(.stray)'\n",
         report::write_contexts, 0, false, false},
};
// clang-format on

struct ViewOptions {
    View view{};
    std::vector<std::string> logs; // files, or folders of *.vsl
    OutputOptions output;
    RowOptions rows;
    std::string per;    // what growth is told per; empty: what suits the log
    std::string until;  // "12.5s"; empty: all is read
    std::string from;   // as `until`
    std::string owners; // a file of rules; empty: none are named
    bool all_frames = false;
    SuppressionOptions suppressions;
    SymbolOptions symbols;
    bool no_cache = false;
    SourceOptions sources;
};

// In ns. CLI11's own numbers with units lose the last digits.
std::uint64_t time_of(const char* option, const std::string& text)
{
    constexpr double kMostNs = 1e18; // 31 years
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}};
    std::string_view unit = text;
    const std::optional<double> time = report::take_decimal(unit);
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    for (const auto& [name, ns] : kUnits) {
        if (time && unit == name)
            return static_cast<std::uint64_t>(std::min(*time * ns, kMostNs));
    }
    throw report::Error(report::Exit::usage,
                        fmt::format("{} {} is no time: write 12.5s, 300ms or 2min", option,
                                    report::shell_quoted(text)));
}

// The verdict: up to the first empty line.
std::string first_paragraph(const std::string& text)
{
    const std::size_t end = text.find("\n\n");
    return text.substr(0, end == text.npos ? end : end + 1);
}

void write_view(std::ostream& out, const ViewOptions& options, const report::RowChoice& rows,
                const report::Report& report)
{
    report::TextStyle style = style_for(STDOUT_FILENO);
    style.rows = rows;
    std::ostringstream text;
    options.view.write(text, report, style);
    out << (options.output.quiet ? first_paragraph(text.str()) : text.str());
}

int view_logs(const ViewOptions& options)
{
    const Interrupt interrupt;
    const report::RowChoice rows = read_row_options(options.rows, options.view.orders);
    report::Options reading;
    reading.all_frames = options.all_frames;
    reading.per = options.per;
    if (!options.until.empty())
        reading.until_ns = time_of("--until", options.until);
    if (!options.from.empty())
        reading.from_ns = time_of("--from", options.from);
    if (reading.until_ns && reading.from_ns > reading.until_ns)
        throw report::Error(report::Exit::usage,
                            fmt::format("--from {} is later than --until {}: nothing is left",
                                        options.from, options.until));
    const std::optional<std::uint64_t> until_ns = reading.until_ns;
    reading.for_page = !options.output.html.empty();
    if (!options.owners.empty())
        report::add_owners_file(reading.rules, options.owners);
    reading.suppressions = read_suppressions(options.suppressions);
    reading.symbols = read_symbol_options(options.symbols);
    reading.symbols.names = names_kept(options.no_cache);
    const report::PageSources sources = read_source_options(options.sources, reading.symbols);
    const std::vector<std::filesystem::path> logs = find_logs(options.logs);
    const std::vector<std::filesystem::path> taken =
        inputs(logs, options.suppressions, {options.owners});
    const Output json(options.output.json, taken, options.output.force);
    const Output html = page_output(options.output, taken);
    const report::Report report = read_logs(logs, std::move(reading));
    if (html.wanted())
        write_page(html, report::page_of(report, options.view.name, until_ns, sources),
                   options.output);
    write_found(json, options.output, json_of(report, options.output.pool_blocks),
                [&](std::ostream& out) { write_view(out, options, rows, report); });
    return report.interrupted ? kInterruptedStatus : 0;
}

void add_view(CommandLine& line, const View& view)
{
    const auto options = std::make_shared<ViewOptions>();
    options->view = view;
    CLI::App& command = line.add(view.name, view.what, std::string(kViewFooter) + view.examples,
                                 view_logs, options);
    command.add_option("LOG", options->logs, "logs, or folders of them")->required();
    add_output_options(command, options->output, "the report");
    add_pool_blocks_option(command, options->output);
    command.add_flag("-q,--quiet", options->output.quiet,
                     "the verdict alone; nothing where a file is written");
    if (view.orders > 0)
        add_row_options(command, options->rows, view.orders);
    add_source_options(command, options->sources);
    command
        .add_option("--per", options->per,
                    "tell growth per step of this NVTX range or mark: epoch, \"step 1\"")
        ->option_text("NAME");
    command
        .add_option("--until", options->until,
                    "only what happened in so long a time after the log's start: 12.5s, 300ms")
        ->option_text("TIME");
    if (view.of_memory)
        command
            .add_option("--owners", options->owners,
                        "sum up memory by the owners that a file of rules names")
            ->option_text("FILE");
    if (view.of_leaks)
        command
            .add_option("--from", options->from,
                        "of what was not freed, only blocks that were allocated so long after the "
                        "log's start, or later")
            ->option_text("TIME");
    add_all_frames_option(command, options->all_frames);
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
    add_cache_option(command, options->no_cache);
}

} // namespace

void add_views(CommandLine& line)
{
    for (const View& view : kViews)
        add_view(line, view);
}

} // namespace vramscope
