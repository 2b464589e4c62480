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
#include "tools/output/messages.hpp"
#include "tools/process/live/collector.hpp"
#include "tools/process/live/live_process.hpp"
#include "tools/process/traced_process.hpp"

namespace vramscope {
namespace {

constexpr const char* kCollectFooter =
    R"(For a server that runs for weeks: its log would grow by gigabytes a day. `collect` replays what was written, keeps
what that tells in the log itself, as a checkpoint, and gives the space of the rest back to the file system. The file is
a sparse one then: `du` says what it takes, `ls -l` how far it goes. The program is neither stopped nor signalled, and
needs nothing to be set. Ends when the program does; it may be killed at any time, and another one goes on.

Report, leaks, peak, frag, timeline, churn, objects, contexts, check, diff, top, snapshot and mark go on as before. What
needs each event is refused in one line.

Ends 0; 110 if there is no such process or it has no log, or no program writes it; 120 if it is no readable log; 125
for wrong usage, if another process collects it, or if its file system cannot give back a part of a file.

Examples:
  vramscope collect 4711 &                     every 15 seconds, until the program ends
  vramscope collect vramscope.server.4711.vsl --every 60
  vramscope collect 4711 --once                now
)";

struct CollectOptions {
    std::string log; // or a process
    double every = 15;
    bool once = false;
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

// What goes wrong while the program runs on may be mended: a disk that was full.
void collect_once(Collector& collector, bool last)
{
    try {
        const Collector::Outcome outcome = collector.collect();
        if (outcome == Collector::Outcome::collected)
            detail(fmt::format("{}: {} on disk, of which the checkpoint has {}",
                               collector.name().string(),
                               report::human_bytes(collector.bytes_on_disk()),
                               report::human_bytes(collector.checkpoint_bytes())));
        else if (outcome == Collector::Outcome::read)
            detail(fmt::format("{} is being read: not now", collector.name().string()));
    } catch (const report::Error& error) {
        if (last || error.exit() != report::Exit::usage)
            throw;
        warn(fmt::format("{}; the next try is later", error.what()));
    }
}

// Returns whether the program runs on, and writes this log.
bool wait(const Collector& collector, std::chrono::duration<double> interval)
{
    constexpr std::chrono::duration<double> kLook(0.5); // for its end
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    for (;;) {
        if (collector.program_ended())
            return false;
        const std::chrono::duration<double> left = interval - (Clock::now() - begin);
        if (left.count() <= 0)
            return !collector.log_was_left();
        std::this_thread::sleep_for(std::min(left, kLook));
    }
}

int collect(const CollectOptions& options)
{
    if (!(options.every >= 0.1 && options.every <= 86400))
        throw report::Error(report::Exit::usage, "--every is 0.1 to 86400 seconds");
    survive_failed_writes();
    const std::unique_ptr<Collector> collector = collector_of(options.log);
    do {
        collect_once(*collector, options.once);
    } while (!options.once && wait(*collector, std::chrono::duration<double>(options.every)));
    say(fmt::format("{}: {} on disk", collector->name().string(),
                    report::human_bytes(collector->bytes_on_disk())));
    return 0;
}

} // namespace

void add_collect(CommandLine& line)
{
    const auto options = std::make_shared<CollectOptions>();
    CLI::App& command = line.add("collect", "keep the log of a program that runs on small",
                                 kCollectFooter, collect, options);
    command
        .add_option("LOG", options->log,
                    "a process that runs under vramscope, or the log that it writes")
        ->required();
    command.add_option("--every", options->every, "seconds from one time to the next; 15")
        ->option_text("S");
    command.add_flag("--once", options->once, "now, and not again");
}

} // namespace vramscope
