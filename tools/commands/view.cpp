// tools/commands/view.cpp — report, leaks and the other views.
//
// Each of them reads logs and prints a part of what they say.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "report/page/page.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/symbol_options.hpp"
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
         report::write_report},
    View{"leaks", "what was never freed, by call stack",
         "  vramscope leaks vramscope.train.4711.vsl\n"
         "  vramscope leaks --json - train.vsl | jq '.totals'\n"
         "  vramscope leaks --sysroot /srv/rootfs train.vsl            recorded in a container with this root\n",
         report::write_leaks},
    View{"peak", "what the peak of each device was made of, and what could be saved",
         "  vramscope peak vramscope.train.4711.vsl\n"
         "  vramscope peak --json - train.vsl | jq '.processes[].device_memory[].peak'\n",
         report::write_peak},
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
         report::write_churn},
};
// clang-format on

struct ViewOptions {
    View view{};
    std::vector<std::string> logs; // files, or folders of *.vsl
    std::string json;
    std::string html;
    bool force = false; // overwrite what these two name
    std::string per;    // what growth is told per; empty: what suits the log
    std::string until;  // "12.5s"; empty: all is read
    bool all_frames = false;
    SuppressionOptions suppressions;
    SymbolOptions symbols;
    SourceOptions sources;
};

// In ns. CLI11's own numbers with units lose the last digits.
std::uint64_t time_of(const std::string& text)
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
                        fmt::format("--until {} is no time: write 12.5s, 300ms or 2min",
                                    report::shell_quoted(text)));
}

int view_logs(const ViewOptions& options)
{
    const Interrupt interrupt;
    report::Options reading;
    reading.all_frames = options.all_frames;
    reading.per = options.per;
    if (!options.until.empty())
        reading.until_ns = time_of(options.until);
    const std::optional<std::uint64_t> until_ns = reading.until_ns;
    reading.for_page = !options.html.empty();
    const report::PageSources sources = read_source_options(options.sources, reading.symbols);
    reading.suppressions = read_suppressions(options.suppressions);
    reading.symbols = read_symbol_options(options.symbols);
    const std::vector<std::filesystem::path> logs = find_logs(options.logs);
    const std::vector<std::filesystem::path> taken = inputs(logs, options.suppressions);
    const Output json(options.json, taken, options.force);
    const Output html = page_output(options.html, taken, options.json, options.force);
    const report::Report report = read_logs(logs, std::move(reading));
    if (html.wanted())
        write_text_to(html, report::page_of(report, options.view.name, until_ns, sources));
    write_results(
        json, [&](std::ostream& out) { report::write_json(out, report); },
        [&](std::ostream& out) {
            if (!html.is_stdout())
                options.view.write(out, report, style_for(STDOUT_FILENO));
        });
    return report.interrupted ? kInterruptedStatus : 0;
}

void add_view(CommandLine& line, const View& view)
{
    const auto options = std::make_shared<ViewOptions>();
    options->view = view;
    CLI::App& command = line.add(view.name, view.what, std::string(kViewFooter) + view.examples,
                                 view_logs, options);
    command.add_option("LOG", options->logs, "logs, or folders of them")->required();
    add_json_options(command, options->json, options->force, "the report");
    add_html_option(command, options->html);
    add_source_options(command, options->sources);
    command
        .add_option("--per", options->per,
                    "tell growth per step of this NVTX range or mark: epoch, \"step 1\"")
        ->option_text("NAME");
    command
        .add_option("--until", options->until,
                    "only what happened in so long a time after the log's start: 12.5s, 300ms")
        ->option_text("TIME");
    command.add_flag("--all-frames", options->all_frames,
                     "show the frames of libraries, the CUDA runtime and vramscope too");
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace

void add_views(CommandLine& line)
{
    for (const View& view : kViews)
        add_view(line, view);
}

} // namespace vramscope
