// tools/commands/plan.cpp — would it fit, on which card, with which knob?
#include "report/model/plan/plan.hpp"

#include <memory>
#include <optional>
#include <ostream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/json/json.hpp"
#include "report/page/page.hpp"
#include "report/plan/make_plan.hpp"
#include "report/plan/replay/policy.hpp"
#include "report/text/views.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/interrupt.hpp"
#include "tools/output/results.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope {
namespace {

constexpr const char* kPlanFooter =
    R"(
The requests of the logs are replayed under each policy; the first is the one that is judged: that of the first
--policy, else the allocator that the program ran with. A policy may have knobs behind a colon, as
PYTORCH_CUDA_ALLOC_CONF writes them: torch:max_split_size_mb:128,garbage_collection_threshold:0.8

Ends 0 if it fits on every --card, and where none is given; 100 if it does not fit on one of them; 110 if no log asked
for device memory; 111 if it fits as far as the logs show, and they may lack requests: a crash, a request that failed,
a cut log, a program that still runs. 120 if a file is no readable log; 125 for wrong usage.

Examples:
  vramscope plan train.vsl                               the smallest card that fits, and the best knob
  vramscope plan train.vsl --card 24GiB --card 16GiB     would it fit on these?
  vramscope plan train.vsl --card 24GiB --policy torch:expandable_segments:True
  vramscope plan b8.vsl b16.vsl b32.vsl --scale batch=8,16,32 --card 24GiB      the largest batch
  vramscope plan train.vsl --html plan.html              policies side by side, to look at in a browser
  vramscope plan train.vsl --json - | jq '.processes[].devices[].policies[] | {name, smallest_card_bytes}'
)";

struct PlanArguments {
    std::vector<std::string> logs;
    std::vector<std::string> cards;
    std::vector<std::string> policies;
    std::string scale;
    OutputOptions output;
    SymbolOptions symbols;
    SourceOptions sources;
};

std::uint64_t card_of(const std::string& text)
{
    const std::optional<std::uint64_t> bytes = format::read_size(text);
    if (!bytes || *bytes == 0 || *bytes > std::uint64_t{1} << 60)
        throw report::Error(report::Exit::usage,
                            fmt::format("--card '{}': write a size such as 24GiB", text));
    return *bytes;
}

int plan_logs(const PlanArguments& options)
{
    const Interrupt interrupt;
    report::plan::PlanOptions wanted;
    for (const std::string& card : options.cards)
        wanted.cards.push_back(card_of(card));
    wanted.policies = options.policies;
    wanted.scale = options.scale;
    wanted.symbols = read_symbol_options(options.symbols);
    const report::PageSources sources = read_source_options(options.sources, wanted.symbols);
    wanted.progress = progress_bar();
    wanted.interrupted = [] { return Interrupt::came(); };
    const std::vector<std::filesystem::path> logs = // --scale has a number for each
        options.scale.empty() ? find_logs(options.logs) : find_logs_as_given(options.logs);
    const Output json(options.output.json, logs, options.output.force);
    const Output html = page_output(options.output, logs);
    const report::Plan plan = report::plan::make_plan(logs, wanted);
    if (html.wanted())
        write_page(html, report::page_of(plan, sources), options.output);
    write_found(
        json, options.output,
        [&](std::ostream& out, const report::JsonStyle& style) {
            report::write_plan_json(out, plan, style);
        },
        [&](std::ostream& out) { report::write_plan(out, plan, style_for(STDOUT_FILENO)); });
    return plan.interrupted ? kInterruptedStatus : plan.exit_status();
}

} // namespace

void add_plan(CommandLine& line)
{
    const auto options = std::make_shared<PlanArguments>();
    CLI::App& command =
        line.add("plan", "would it fit: the smallest card, and which allocator's setting helps",
                 std::string(kSizesHelp) + kPlanFooter, plan_logs, options);
    command.add_option("LOG", options->logs, "logs, or folders of them")->required();
    command
        .add_option("--card", options->cards,
                    "would it fit on a device of this size? May be repeated")
        ->allow_extra_args(false)
        ->option_text("BYTES");
    offer(command
              .add_option("--policy", options->policies,
                          "an allocator, with knobs behind a colon: torch:max_split_size_mb:128; "
                          "may be repeated")
              ->allow_extra_args(false)
              ->option_text("NAME"),
          report::plan::policy_names());
    command
        .add_option("--scale", options->scale,
                    "the logs are of runs at these sizes: a line through their peaks")
        ->option_text("NAME=N,N...");
    add_output_options(command, options->output, "the plan");
    add_source_options(command, options->sources);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
