// tools/commands/view.cpp — report, leaks and the other views: read logs, print what they say.
#include <ostream>
#include <unistd.h>

#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/output/interrupt.hpp"
#include "tools/output/results.hpp"

namespace vramscope {

int view_command(const ViewOptions& options)
{
    const Interrupt interrupt;
    report::Options reading;
    reading.all_frames = options.all_frames;
    reading.per = options.per;
    reading.suppressions = read_suppressions(options.suppressions);
    const std::vector<std::filesystem::path> logs = find_logs(options.logs);
    const Output json(options.json, inputs(logs, options.suppressions), options.force);
    const report::Report report = read_logs(logs, std::move(reading));
    write_results(
        json, [&](std::ostream& out) { report::write_json(out, report); },
        [&](std::ostream& out) { options.write(out, report, style_for(STDOUT_FILENO)); });
    return report.interrupted ? kInterruptedStatus : 0;
}

} // namespace vramscope
