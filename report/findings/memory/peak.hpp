// report/findings/memory/peak.hpp — what held the memory of a device at its peak.
//
// The parts are told by call stack, by module, by NVTX phase and by API.
#pragma once

#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/memory.hpp"
#include "report/replay/peak.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostPeakStacks = 50;
inline constexpr std::size_t kMostPeakParts = 20;
// What is left out of a list of parts, as one part.
inline constexpr const char* kOtherParts = "(others)";

Peak find_peak(std::vector<PeakHolding> holdings, const HeapReplay& heap, const LeakSource& log);

} // namespace vramscope::report
