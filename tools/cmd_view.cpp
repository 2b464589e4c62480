// tools/cmd_view.cpp — report, leaks and the other views: read logs, print what they say.
#include <iostream>
#include <unistd.h>

#include "report/error.hpp"
#include "tools/commands.hpp"
#include "tools/interrupt.hpp"
#include "tools/results.hpp"

namespace vramscope {

int view_command(const ViewOptions& options)
{
    const Interrupt interrupt;
    report::Options reading;
    reading.all_frames = options.all_frames;
    reading.per = options.per;
    reading.suppressions = read_suppressions(options.suppressions);
    const report::Report report = read_logs(find_logs(options.logs), std::move(reading));
    const int status = report.interrupted ? kInterruptedStatus : 0;
    if (!options.json.empty())
        write_json_to(options.json, report);
    if (options.json == "-")
        return status; // stdout is the JSON's alone
    options.write(std::cout, report, style_for(STDOUT_FILENO));
    if (!std::cout.flush())
        throw report::Error(report::Exit::usage, "cannot write to stdout");
    return status;
}

} // namespace vramscope
