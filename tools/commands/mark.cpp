// tools/commands/mark.cpp — put a mark into the log of a running program.
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "report/error.hpp"
#include "tools/commands/commands.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/live_process.hpp"
#include "tracker/log/outside_mark.hpp"

namespace vramscope {

int mark_command(const MarkOptions& options)
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

} // namespace vramscope
