// tools/cmd_snapshot.cpp — what a running program holds right now, from its log alone.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <ostream>
#include <unistd.h>

#include "report/error.hpp"
#include "report/export/words.hpp"
#include "report/read/log_copy.hpp"
#include "tools/commands.hpp"
#include "tools/live_process.hpp"
#include "tools/results.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope {
namespace {

[[noreturn]] void cannot_write(const std::string& path, int reason)
{
    throw report::Error(report::Exit::usage,
                        fmt::format("cannot write {}: {}", path, std::strerror(reason)));
}

// A new file, whole or not at all.
void write_copy(const std::string& path, const report::LogFile& log, std::uint64_t ticks)
{
    const int descriptor =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0)
        cannot_write(path, errno);
    errno = 0;
    const bool copied = report::copy_log(log, ticks, descriptor);
    const int reason = errno;
    if (::close(descriptor) == 0 && copied)
        return;
    ::unlink(path.c_str());
    cannot_write(path, reason ? reason : EIO);
}

} // namespace

int snapshot_command(const SnapshotOptions& options)
{
    const LiveProcess process = find_live_process(options.pid);
    const std::uint64_t ticks =
        capture::read_ticks(report::LogFile::open(process.door).header().clock);
    if (!options.copy.empty())
        write_copy(options.copy, report::LogFile::open(process.door), ticks);
    report::Options reading;
    reading.all_frames = options.all_frames;
    reading.until_ticks = ticks;
    report::Report report = report::make_report({process.door}, reading);
    report.processes.front().log = options.copy.empty() ? process.name.string() : options.copy;
    write_results(
        options.json, [&](std::ostream& out) { report::write_json(out, report); },
        [&](std::ostream& out) {
            report::write_snapshot(out, report, style_for(STDOUT_FILENO));
            if (!options.copy.empty())
                out << "\nNext: vramscope report " << report::terminal_safe(report::shell_quoted(options.copy)) << '\n';
        });
    return 0;
}

} // namespace vramscope
