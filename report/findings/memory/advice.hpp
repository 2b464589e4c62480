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

// What the times of a site's blocks prove of the peak.
struct SiteAdvice {
    AdviceKind kind = AdviceKind::never_freed; // no redundant_pairs
    SiteId site = 0;
    std::uint64_t bytes = 0; // at the peak
    std::uint64_t blocks = 0;
    PhaseKind other = 0; // of allocated_early
};

// In the order of the holdings; less than a thousandth of the peak is left out. `conclusive`: what
// was not freed never would have been.
std::vector<SiteAdvice> advise(const std::vector<PeakHolding>& holdings, bool conclusive);

// The largest saving first; those that save calls alone come last.
std::vector<Advice> find_advice(const std::vector<PeakHolding>& holdings,
                                const std::vector<RepeatedPairs>& pairs, const HeapReplay& heap,
                                const LeakSource& log);

} // namespace vramscope::report
