// report/findings/shortages.hpp — allocations that failed for want of memory.
//
// How the device's memory stood, which call stacks held it, and why it was not enough.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/findings/leaks.hpp"
#include "report/model/shortages.hpp"
#include "report/replay/shortages.hpp"

namespace vramscope::report {

std::vector<Shortage> find_shortages(const std::vector<LoggedShortage>& logged, bool pooled,
                                     const LeakSource& source);

} // namespace vramscope::report
