// report/export/advice_text.hpp — advice as lines: what, where, how much, and what proves it.
#pragma once

#include "report/export/text_output.hpp"

namespace vramscope::report {

// Nothing, where there is none.
void write_advice(TextOutput& out, const Report& report);

} // namespace vramscope::report
