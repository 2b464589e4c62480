// report/model/segment_cells.hpp — segments of the pool as a line of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/pool.hpp"

namespace vramscope::report {

// `width` cells for the bytes of all segments one behind the other: '#' allocated, '+' in part,
// '~' freed and not safe to reuse, '.' free.
std::string segment_cells(const std::vector<SegmentPieces>& segments, std::size_t width);

} // namespace vramscope::report
