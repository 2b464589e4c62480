// report/findings/memory/holders.hpp — who had the memory of a device, at its peak and at the end.
//
// Allocators of the program's own, modules that called the driver, the pool, and what the driver
// counts beyond these: rows that add up to what is used.
#pragma once

#include <cstdint>
#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/memory.hpp"
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostHolders = 20; // of each kind; then a row "(others)"

// What the device's sites have now.
std::vector<SiteShare> live_shares(const Sites& sites, std::int32_t device);

// By kind, and the largest first. `cache`: the name of the allocator that has what is kept; empty:
// there are several.
std::vector<MemoryHolder> find_holders(std::vector<SiteShare> shares, const Waterfall& parts,
                                       const std::string& cache, const HeapReplay& heap,
                                       const LeakSource& log);

} // namespace vramscope::report
