// report/page/maps.hpp — the segments of a device at moments, and who sits where, as a page has it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/pool.hpp"
#include "report/page/tables.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostMaps = 6; // of a device

struct PageMap {
    const char* moment; // "peak", "end", "shortage"
    std::string of;     // whose segments: "PyTorch", "the pool"
    const PoolMap* map;
};

// `pieces`: how many of blocks and gaps all of them may have together.
Json page_maps(const std::vector<PageMap>& maps, std::size_t pieces, PageTables& tables);

} // namespace vramscope::report
