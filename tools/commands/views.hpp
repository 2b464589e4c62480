// tools/commands/views.hpp — the ways to look at logs: each row is a subcommand that reads the same
// report and prints a part of it. Subcommands and their help come from here.
#pragma once

#include <array>

#include "report/text/views.hpp"

namespace vramscope {

struct View {
    const char* name;
    const char* what;     // one line of `vramscope --help`
    const char* examples; // of its own help
    void (*write)(std::ostream& out, const report::Report& report, const report::TextStyle& style);
};

// clang-format off
inline constexpr std::array kViews{
    View{"report", "everything that the logs say",
         "  vramscope report vramscope.train.4711.vsl\n"
         "  vramscope report logs/                       every *.vsl in a folder, as one\n"
         "  vramscope report --json - train.vsl | jq '.verdict'\n",
         report::write_report},
    View{"leaks", "what was never freed, by call stack",
         "  vramscope leaks vramscope.train.4711.vsl\n"
         "  vramscope leaks --json - train.vsl | jq '.totals'\n",
         report::write_leaks},
    View{"peak", "what the peak of each device was made of, and what could be saved",
         "  vramscope peak vramscope.train.4711.vsl\n"
         "  vramscope peak --json - train.vsl | jq '.processes[].device_memory[].peak'\n",
         report::write_peak},
    View{"timeline", "a chart of each device's memory over time",
         "  vramscope timeline vramscope.train.4711.vsl\n"
         "  vramscope timeline --json - train.vsl | jq '.processes[].device_memory[].timeline'\n",
         report::write_timeline},
    View{"frag", "how the memory of each device was made up, and what of it was of no use",
         "  vramscope frag vramscope.train.4711.vsl\n"
         "  vramscope frag --json - train.vsl | jq '.processes[].device_memory[].at_peak'\n",
         report::write_fragmentation},
    View{"churn", "how often memory is allocated and freed, what that costs, and where",
         "  vramscope churn vramscope.train.4711.vsl\n"
         "  vramscope churn --json - train.vsl | jq '.processes[0].churn.driver'\n",
         report::write_churn},
};
// clang-format on

} // namespace vramscope
