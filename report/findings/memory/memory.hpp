// report/findings/memory/memory.hpp — the replay of devices becomes what a report keeps of them.
//
// What describe_memory() puts together, each from its own file, and what else is told of memory by
// device: maps of segments, and the program's tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/memory/memory.hpp"
#include "report/model/memory/pool.hpp"
#include "report/model/tests.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/peak.hpp"
#include "report/replay/pool/pool_snapshot.hpp"
#include "report/replay/shortages.hpp"
#include "report/replay/span_peaks.hpp"
#include "report/replay/tests.hpp"

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

Mempool mempool_of(const LoggedMempool& logged, const LeakSource& source);
void sort_by_kept(std::vector<Mempool>& pools);

inline constexpr std::size_t kReportPoints = 256; // of each timeline that is printed

std::vector<MemoryTime> times_of(const std::vector<PoolPoint>& points, const TickClock& clock);

// What held the memory of a device at its peak. The parts are told by call stack, by module, by
// NVTX phase and by API.
inline constexpr std::size_t kMostPeakStacks = 50;
inline constexpr std::size_t kMostPeakParts = 20;
// What is left out of a list of parts, as one part.
inline constexpr const char* kOtherParts = "(others)";

Peak find_peak(std::vector<PeakHolding> holdings, const HeapReplay& heap, const LeakSource& log);

// What of a peak need not have been there. Only the times of allocations and frees are seen, not
// the uses between them. So each saving is the most that one change alone can bring, and a reader
// must know what uses the memory.
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

// Who had the memory of a device, at its peak and at the end: allocators of the program's own,
// modules that called the driver, the pool, and what the driver counts beyond these, in rows that
// add up to what is used.
inline constexpr std::size_t kMostHolders = 20; // of each kind; then a row "(others)"

// What the device's sites have now.
std::vector<SiteShare> live_shares(const Sites& sites, std::int32_t device);

// By kind, and the largest first. `cache`: the name of the allocator that has what is kept; empty:
// there are several.
std::vector<MemoryHolder> find_holders(std::vector<SiteShare> shares, const Waterfall& parts,
                                       const std::string& cache, const HeapReplay& heap,
                                       const LeakSource& log);

// The spans of a place's time, as SpanPeaks numbers places, with stacks. Of so many call stacks
// the parts are told; what others had is in the sums alone.
inline constexpr std::size_t kMostComposingSites = 1024;

Compositions find_compositions(const SpanPeaks& peaks, std::size_t place, const Sites& sites,
                               const LeakSource& log);

// A moment's segments as a map, without its free pieces. `stacks`: reads the blocks' owners;
// nullptr: they are not wanted.
PoolMap map_of(PoolSnapshot&& snapshot, std::uint64_t ns, StackReader* stacks);

// The program's tests in order of time, with the stacks of what they leaked. `tests` are finished.
std::vector<TestRow> find_tests(const Tests& tests, const Sites& sites, const LeakSource& source);

} // namespace vramscope::report
