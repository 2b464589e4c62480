// tools/commands/snapshot.cpp — what a running program holds right now, from its log alone.
#include <cerrno>
#include <ostream>
#include <unistd.h>

#include "report/error.hpp"
#include "report/log/log_copy.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/output/results.hpp"
#include "tools/process/live_process.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope {
namespace {

// As private as the log itself.
void write_copy(const Output& output, const report::LogFile& log, std::uint64_t ticks)
{
    OutputFile file(output, 0600);
    errno = EIO;
    if (!report::copy_log(log, ticks, file.descriptor()))
        file.fail();
    file.finish();
}

} // namespace

int snapshot_command(const SnapshotOptions& options)
{
    const LiveProcess process = find_live_process(options.pid);
    const Output copy(options.copy, {process.door}, options.force, Output::Keep::every_file);
    const Output json(options.json, {process.door, options.copy}, options.force);
    const std::uint64_t ticks =
        capture::read_ticks(report::LogFile::open(process.door).header().clock);
    if (copy.wanted())
        write_copy(copy, report::LogFile::open(process.door), ticks);
    report::Options reading;
    reading.all_frames = options.all_frames;
    reading.until_ticks = ticks;
    report::Report report = report::make_report({process.door}, reading);
    report.processes.front().log = options.copy.empty() ? process.name.string() : options.copy;
    write_results(
        json, [&](std::ostream& out) { report::write_json(out, report); },
        [&](std::ostream& out) {
            report::write_snapshot(out, report, style_for(STDOUT_FILENO));
            if (copy.wanted())
                out << "\nNext: vramscope report "
                    << report::terminal_safe(report::shell_quoted(options.copy)) << '\n';
        });
    return 0;
}

} // namespace vramscope
