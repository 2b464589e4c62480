// report/findings/memory/advice.hpp — what of a peak need not have been there.
//
// Only the times of allocations and frees are seen, not the uses between them. So each saving is
// the most that one change alone can bring, and a reader must know what uses the memory.
#pragma once

#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/memory.hpp"
#include "report/replay/peak.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostAdvice = 20;

// The largest saving first; those that save calls alone come last.
std::vector<Advice> find_advice(const std::vector<PeakHolding>& holdings,
                                const std::vector<RepeatedPairs>& pairs, const HeapReplay& heap,
                                const LeakSource& log);

} // namespace vramscope::report
