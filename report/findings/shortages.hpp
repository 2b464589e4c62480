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

// `mapped`: with the segments then, and the owners of their blocks.
std::vector<Shortage> find_shortages(std::vector<LoggedShortage> logged, bool pooled, bool mapped,
                                     const LeakSource& source);

} // namespace vramscope::report
