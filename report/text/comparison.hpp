// report/text/comparison.hpp — two reports side by side, as text.
#pragma once

#include <ostream>

#include "report/model/comparison.hpp"
#include "report/text/views.hpp"

namespace vramscope::report {

// The verdict, the numbers, and the call stacks that leak more or less than before.
void write_comparison(std::ostream& out, const Comparison& comparison, const Report& now,
                      const TextStyle& style = {});
} // namespace vramscope::report
