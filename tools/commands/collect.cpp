// tools/commands/collect.cpp — keep the log of a program that runs on small.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/live/collector.hpp"
#include "tools/process/live/live_process.hpp"
#include "tools/process/traced_process.hpp"
#include "tools/watch/watch.hpp"
#include "tools/watch/watch_options.hpp"

namespace vramscope {
namespace {

constexpr const char* kCollectFooter =
    R"(For a server that runs for weeks: its log would grow by gigabytes a day. `collect` replays what was written, keeps
what that tells in the log itself, as a checkpoint, and gives the space of the rest back to the file system. The file is
a sparse one then: `du` says what it takes, `ls -l` how far it goes. The program is neither stopped nor signalled, and
needs nothing to be set. Ends when the program does; it may be killed at any time, and another one goes on.

Report, leaks, peak, frag, timeline, churn, objects, contexts, check, diff, top, snapshot and mark go on as before, and
so do pages and exports of sums. What needs each event is refused in one line.

Ends 0; 110 if there is no such process or it has no log, or no program writes it; 120 if it is no readable log; 125
for wrong usage, if another process collects it, or if its file system cannot give back a part of a file.

Examples:
  vramscope collect 4711 &                     whenever it has grown by 1.25 MiB, until the program ends
  vramscope collect 4711 --metrics server.prom and numbers for Prometheus every 15 s
  vramscope collect 4711 --once                now
)";

struct CollectOptions {
    std::string log; // or a process
    bool once = false;
    bool force = false; // for the file of metrics
    WatchOptions watch;
    SymbolOptions symbols;
};

// A file with such a name is meant where there is one.
std::unique_ptr<Collector> collector_of(const std::string& log)
{
    const std::optional<pid_t> pid = report::whole_number<pid_t>(log);
    std::error_code unknown;
    if (pid && !std::filesystem::exists(log, unknown))
        return std::make_unique<Collector>(find_live_process(*pid));
    return std::make_unique<Collector>(std::filesystem::path(log));
}

void tell(const Collector& collector, Collector::Outcome outcome)
{
    if (outcome == Collector::Outcome::collected)
        detail(fmt::format("{}: {} on disk, of which the checkpoint has {}",
                           collector.name().string(),
                           report::human_bytes(collector.bytes_on_disk()),
                           report::human_bytes(collector.checkpoint_bytes())));
    else if (outcome == Collector::Outcome::read)
        detail(fmt::format("{} is being read: not now", collector.name().string()));
}

// What goes wrong while the program runs on may be mended: a disk that was full.
void collect_if_grown(Collector& collector)
{
    try {
        tell(collector, collector.collect_if_grown());
    } catch (const report::Error& error) {
        if (error.exit() != report::Exit::usage)
            throw;
        warn(fmt::format("{}; the next try is later", error.what()));
    }
}

// Until the next look. Returns whether the program runs on, and writes this log.
bool collect_for(Collector& collector, std::chrono::duration<double> interval)
{
    constexpr std::chrono::duration<double> kLook(0.5); // at its end, and at the disk
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    for (;;) {
        collect_if_grown(collector);
        if (collector.program_ended())
            return false;
        const std::chrono::duration<double> left = interval - (Clock::now() - begin);
        if (left.count() <= 0)
            return !collector.log_was_left();
        std::this_thread::sleep_for(std::min(left, kLook));
    }
}

// As names of files have it.
std::string program_of(const Collector& collector)
{
    const std::string name = text_of(fmt::format("/proc/{}/comm", collector.pid()));
    return name.substr(0, name.find('\n'));
}

int collect(const CollectOptions& options)
{
    survive_failed_writes();
    const std::unique_ptr<Collector> collector = collector_of(options.log);
    const WatchPlan plan =
        read_watch_options(options.watch, program_of(*collector), {collector->name()},
                           options.force, read_symbol_options(options.symbols));
    Watch watch(plan);
    if (options.once)
        tell(*collector, collector->collect());
    for (bool more = true; more;) {
        if (options.watch.wanted())
            watch.look({{collector->name(), collector->pid(), false}}, options.once);
        more = !options.once && collect_for(*collector, plan.interval);
    }
    if (options.watch.wanted() && !options.once)
        watch.look({{collector->name(), collector->pid(), collector->log_was_left()}}, true);
    say(fmt::format("{}: {} on disk", collector->name().string(),
                    report::human_bytes(collector->bytes_on_disk())));
    return 0;
}

} // namespace

void add_collect(CommandLine& line)
{
    const auto options = std::make_shared<CollectOptions>();
    CLI::App& command = line.add("collect", "keep the log of a program that runs on small",
                                 std::string(kCollectFooter) + kWatchHelp, collect, options);
    command
        .add_option("LOG", options->log,
                    "a process that runs under vramscope, or the log that it writes")
        ->required();
    command.add_flag("--once", options->once, "now, and not again");
    command.add_flag("-f,--force", options->force, "overwrite the file of --metrics");
    add_watch_options(command, options->watch);
    add_symbol_options(command, options->symbols);
}

} // namespace vramscope
