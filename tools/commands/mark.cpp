// tools/commands/mark.cpp — put a mark into the log of a running program.
#include <cerrno>
#include <cstring>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/live/live_process.hpp"
#include "tracker/log/outside_mark.hpp"

namespace vramscope {
namespace {

constexpr const char* kMarkFooter =
    R"(Adds one record to the program's log; the program is neither stopped nor signalled. `vramscope report` lists the
marks with their times.

Ends 0 when the mark is in the log; 110 if there is no such process, it is not traced, has made no CUDA call yet, has
ended, or is not yours; 125 for wrong usage, or if the log cannot grow.

Examples:
  vramscope mark 4711 "after warm-up"
  vramscope mark $(pgrep train) epoch-2
)";

struct MarkOptions {
    pid_t pid = 0;
    std::string name;
};

int mark_process(const MarkOptions& options)
{
    if (options.name.empty() || options.name.size() > log::kMostMarkBytes)
        throw report::Error(report::Exit::usage,
                            fmt::format("NAME has 1 to {} bytes, this one has {}",
                                        log::kMostMarkBytes, options.name.size()));
    const LiveProcess process = find_live_process(options.pid);
    const int descriptor = open_log_for_writing(process);
    const bool written = log::append_mark(descriptor, options.name);
    const int reason = errno;
    ::close(descriptor);
    if (!written)
        throw report::Error(report::Exit::usage,
                            fmt::format("cannot add to {}, the log of process {}: {}",
                                        process.name.string(), process.pid, std::strerror(reason)));
    say(fmt::format("marked process {}: {}", process.pid, options.name));
    return 0;
}

} // namespace

void add_mark(CommandLine& line)
{
    const auto options = std::make_shared<MarkOptions>();
    CLI::App& command = line.add("mark", "put a named mark into the log of a running program",
                                 kMarkFooter, mark_process, options);
    take_only_positive(
        command.add_option("PID", options->pid, "a process that runs under vramscope")->required());
    command.add_option("NAME", options->name, "what the mark is called in reports")->required();
}

} // namespace vramscope
