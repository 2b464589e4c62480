// report/analyze/describe_memory.hpp — the replay of devices becomes what a report keeps of them.
#pragma once

#include <vector>

#include "report/analyze/device_report.hpp"
#include "report/analyze/leaks.hpp"
#include "report/analyze/pool_report.hpp"
#include "report/read/device_memory.hpp"
#include "report/read/peak_holders.hpp"

namespace vramscope::report {

struct MemorySource {
    const HeapReplay& heap; // finished
    const DeviceMemory& memory;
    const PeakHolders& holders;
    const PoolReport& pool;
    const LeakSource& log;
};

// By ordinal. A device that had no memory of the process, and of which nothing was asked, is none.
std::vector<DeviceReport> describe_memory(const MemorySource& source);

} // namespace vramscope::report
