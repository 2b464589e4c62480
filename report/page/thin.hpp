// report/page/thin.hpp — a timeline in fewer points, of which the eye sees no difference.
#pragma once

#include <cstddef>
#include <vector>

#include "report/model/memory/waterfall.hpp"

namespace vramscope::report {

// At most `most` spans, each made of neighbours: it has their peaks, the least that was allocated,
// and what held at its end. No peak and no low is lost, only its exact moment.
std::vector<MemoryTime> thinned(const std::vector<MemoryTime>& times, std::size_t most);

} // namespace vramscope::report
