// report/findings/leaks.hpp — what was never freed, one row per call stack.
//
// Blocks are one row when process, kind of leak, API, memory, device and visible frames agree: a
// reader fixes a line, not an address. Rows are sorted by bytes, the largest first. Equal input
// gives equal order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/leaks.hpp"
#include "report/replay/heap/lost_blocks.hpp"

namespace vramscope::report {

class GrowthTable;

// `lost` and `growth` are of the same HeapReplay. Without `growth` no row gets a class.
LostRows find_leaks(const std::vector<LostBlocks>& lost, const LeakSource& source,
                    const GrowthTable* growth = nullptr);

// It looks at times and at the number of blocks, so it works for sums of leaks too.
Pattern pattern_of(const Leak& leak, std::uint64_t duration_ns);

} // namespace vramscope::report
