// tools/watch/watch_options.cpp — see watch_options.hpp.
#include "tools/watch/watch_options.hpp"

#include <cstdint>
#include <system_error>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/words/words.hpp"
#include "tools/process/log_place.hpp"
#include "tools/process/program_file.hpp"

namespace vramscope {
namespace {

constexpr const char* kWatchGroup = "While it runs";

[[noreturn]] void refuse_watch(const std::string& line)
{
    throw report::Error(report::Exit::usage, line);
}

std::chrono::milliseconds read_interval(const WatchOptions& options)
{
    constexpr double kUsual = 15;
    const double seconds = options.interval.value_or(kUsual);
    if (!(seconds >= 0.1 && seconds <= 3600))
        refuse_watch("--interval is 0.1 to 3600 seconds");
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// It is replaced at each look: a pipe would let us wait for its reader, and others would get one
// text behind the other.
Output metrics_output(const std::string& name, const std::string& program,
                      const std::vector<std::filesystem::path>& taken, bool force)
{
    if (name == "-")
        refuse_watch("--metrics -: write the name of a file");
    Output output(name.empty() ? "" : expand_pattern(absolute_pattern(name), program, ::getpid()),
                  taken, force);
    if (output.wanted() && !output.is_replaced())
        refuse_watch(fmt::format("--metrics {}: it is no regular file, which could be replaced",
                                 report::shell_quoted(name)));
    return output;
}

// As posix_spawnp will find it. It would be missed when something happens, perhaps after days.
void check_command(const std::string& event, const std::string& command)
{
    const ProgramFile file = inspect_program(command);
    std::error_code unknown;
    std::string why;
    if (file.path.empty())
        why = "there is no such command";
    else if (std::filesystem::is_directory(file.path, unknown))
        why = "it is a folder";
    else if (!file.executable)
        why = "it is not executable";
    else if (!file.interpreter.empty() && inspect_program(file.interpreter).path.empty())
        why = fmt::format("there is no {}, which it names in its first line", file.interpreter);
    if (!why.empty())
        refuse_watch(fmt::format("--on {} {}: {}", event, report::shell_quoted(command), why));
}

} // namespace

const char* const kWatchHelp =
    R"(
--metrics and --on look at the program's log every 15 s, and once more when it has ended. EVENT is growth (a call stack
begins to grow), oom (an allocation failed for want of memory), headroom=5% or headroom=2GiB (less is left of a device).
COMMAND is run without a shell and without arguments, one after the other, and finds in its environment VRAMSCOPE_EVENT
(growth, oom or headroom), VRAMSCOPE_EVENT_PID, VRAMSCOPE_EVENT_TEXT and VRAMSCOPE_SNAPSHOT, a copy of the log:
LOG.growth, LOG.oom or LOG.headroom, which the next event of that name overwrites. The last is not there if no copy
could be made.
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
    const std::chrono::milliseconds interval = read_interval(options);
    WatchPlan plan{metrics_output(options.metrics, program, taken, force), {}, symbols, interval};
    for (const auto& [event, command] : options.on) {
        plan.commands.push_back({read_watch_rule(event), command});
        check_command(event, command);
    }
    return plan;
}

} // namespace vramscope
