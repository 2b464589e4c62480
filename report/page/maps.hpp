// report/page/maps.hpp — the segments of a device at moments, and who sits where, as a page has it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/json/documents.hpp"
#include "report/model/memory/pool.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostMaps = 6; // of a device

struct PageMap {
    const char* moment; // "peak", "end", "shortage"
    std::string of;     // whose segments: "PyTorch", "the pool"
    const PoolMap* map;
};

// `pieces`: how many of blocks and gaps all of them may have together; `rows`: how many segments
// and owners each.
Json maps_json(const std::vector<PageMap>& maps, std::size_t pieces, std::size_t rows);

} // namespace vramscope::report
