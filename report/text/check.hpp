// report/text/check.hpp — a report against its budget, for the log of a CI job.
#pragma once

#include <ostream>

#include "report/model/check.hpp"
#include "report/text/views.hpp"

namespace vramscope::report {

// The verdict, a line for each budget, what is over it, and the next command.
void write_check(std::ostream& out, const Check& check, const Report& report,
                 const TextStyle& style = {});
// Ends `vramscope run --check`: the verdict is the last line.
void write_check_summary(std::ostream& out, const Check& check, const Report& report,
                         const TextStyle& style = {});
} // namespace vramscope::report
