// report/judge/fastest_growth.hpp — what of all that grows a headline tells.
#pragma once

#include <cstddef>

#include "report/model/report.hpp"

namespace vramscope::report {

struct FastestGrowth {
    Growth of_function;           // all rows that have one rate with the fastest: see `stacks`
    double least_per_step = 0;    // its rate in the process where that function grows slowest
    std::size_t other_stacks = 0; // each once, whichever processes have it
};

// Of the rows that are proven (processes_with.hpp), of which there is one at least.
FastestGrowth fastest_growth(const Report& report);

} // namespace vramscope::report
