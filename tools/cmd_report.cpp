// tools/cmd_report.cpp — report and leaks: read logs, print the verdict and what it rests on.
#include <iostream>
#include <unistd.h>

#include "report/error.hpp"
#include "tools/commands.hpp"
#include "tools/results.hpp"

namespace vramscope {

int report_command(const ReportOptions& options)
{
    const report::Report report = read_logs(find_logs(options.logs), options.all_frames);
    if (!options.json.empty())
        write_json_to(options.json, report);
    if (options.json == "-")
        return 0; // stdout is the JSON's alone
    const report::TextStyle style = style_for(STDOUT_FILENO);
    if (options.leaks_only)
        report::write_leaks(std::cout, report, style);
    else
        report::write_report(std::cout, report, style);
    if (!std::cout.flush())
        throw report::Error(report::Exit::usage, "cannot write to stdout");
    return 0;
}

} // namespace vramscope
