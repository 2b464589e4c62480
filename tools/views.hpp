// tools/views.hpp — the ways to look at logs: each row is a subcommand that reads the same report
// and prints a part of it. Subcommands and their help come from here.
#pragma once

#include <array>

#include "report/export/export.hpp"

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
};
// clang-format on

} // namespace vramscope
