// report/findings/memory/memory.hpp — the replay of devices becomes what a report keeps of them.
#pragma once

#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/memory.hpp"
#include "report/model/pool.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/peak.hpp"
#include "report/replay/shortages.hpp"
#include "report/replay/span_peaks.hpp"

namespace vramscope::report {

struct MemorySource {
    const HeapReplay& heap; // finished
    const DeviceMemory& memory;
    const PeakHolders& holders;
    const Shortages& shortages;
    const SpanPeaks& span_peaks;
    const PoolReport& pool;
    const LeakSource& log;
};

// By ordinal. A device that had no memory of the process, and of which nothing was asked, is none.
std::vector<MemoryReport> describe_memory(const MemorySource& source);

inline constexpr std::size_t kReportPoints = 256; // of each timeline that is printed

std::vector<MemoryTime> times_of(const std::vector<PoolPoint>& points, const TickClock& clock);

} // namespace vramscope::report
