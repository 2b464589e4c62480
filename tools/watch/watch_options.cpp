// tools/watch/watch_options.cpp — see watch_options.hpp.
#include "tools/watch/watch_options.hpp"

#include <cstdint>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "report/error.hpp"
#include "tools/process/log_place.hpp"

namespace vramscope {
namespace {

constexpr const char* kWatchGroup = "While it runs";

} // namespace

const char* const kWatchHelp =
    R"(
--metrics and --on look at the program's log every 15 s, and once more when it has ended. EVENT is growth (a call stack
begins to grow), oom (an allocation failed for want of memory), headroom=5% or headroom=2GiB (less is left of a device).
COMMAND is run without a shell and without arguments, one after the other, and finds in its environment VRAMSCOPE_EVENT,
VRAMSCOPE_EVENT_PID, VRAMSCOPE_EVENT_TEXT and VRAMSCOPE_SNAPSHOT, a copy of the log: LOG.growth, LOG.headroom or
LOG.out-of-memory, which the next event of that name overwrites.
)";

void add_watch_options(CLI::App& command, WatchOptions& options)
{
    command
        .add_option("--metrics", options.metrics,
                    "numbers for Prometheus in this file, by way of node_exporter; it is replaced "
                    "every 15 s")
        ->option_text("FILE")
        ->group(kWatchGroup);
    command.add_option("--on", options.on, "run COMMAND when that happens; may be repeated")
        ->allow_extra_args(false)
        ->option_text("EVENT COMMAND")
        ->group(kWatchGroup);
    command.add_option("--interval", options.interval, "seconds from one look to the next; 15")
        ->option_text("S")
        ->group(kWatchGroup);
}

WatchPlan read_watch_options(const WatchOptions& options, const std::string& program,
                             const std::vector<std::filesystem::path>& taken, bool force,
                             const report::SymbolizerOptions& symbols)
{
    if (!(options.interval >= 0.1 && options.interval <= 3600))
        throw report::Error(report::Exit::usage, "--interval is 0.1 to 3600 seconds");
    if (options.metrics == "-")
        throw report::Error(report::Exit::usage, "--metrics -: write the name of a file");
    const std::string metrics =
        options.metrics.empty()
            ? ""
            : expand_pattern(absolute_pattern(options.metrics), program, ::getpid());
    WatchPlan plan{Output(metrics, taken, force),
                   {},
                   symbols,
                   std::chrono::milliseconds(static_cast<std::int64_t>(options.interval * 1000))};
    for (const auto& [event, command] : options.on)
        plan.commands.push_back({read_watch_rule(event), command});
    return plan;
}

} // namespace vramscope
