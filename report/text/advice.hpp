// report/text/advice.hpp — advice as lines: what, where, how much, and what proves it.
#pragma once

#include "report/text/output.hpp"

namespace vramscope::report {

// Nothing, where there is none.
void write_advice(TextOutput& out, const Report& report);

} // namespace vramscope::report
