// report/model/memory.hpp — the memory of one device as a report keeps it.
//
// How it was made up at its peaks, what held it then, how it went over time, what could be saved.
//
// All numbers are of one process and one device. A *peak* is the first moment of its height.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/pool_stats.hpp"
#include "report/model/waterfall.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// A waterfall and its moment.
struct MemoryMoment {
    std::uint64_t ns = 0; // since the log was opened
    Waterfall parts;
};
struct MarkedMoment : MemoryMoment {
    std::string mark;
};

// What one module, phase or API had at a peak.
struct PeakPart {
    std::string name; // empty: not known, or outside of any phase
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};
struct PeakStack : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    format::Memory memory = format::Memory::none;
    std::string phase; // path, if all blocks share it
};

// What was alive at the peak of allocated bytes. Each list sums up to `bytes`, which is what the
// program had asked for.
struct Peak {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::vector<PeakStack> stacks; // the largest
    // The sums over the stacks that are left out.
    std::uint64_t more_stacks = 0;
    std::uint64_t more_bytes = 0;
    std::uint64_t more_blocks = 0;
    std::vector<PeakPart> modules; // by the module of the innermost visible frame
    std::vector<PeakPart> phases;
    std::vector<PeakPart> apis;
};

struct ComposingStack : CallPlace {
    format::Memory memory = format::Memory::none;
};

// The highest moment of a span of time. The spans follow each other without a gap.
struct Composition {
    struct Part {
        std::size_t stack = 0; // index into Compositions::stacks
        std::uint64_t bytes = 0;
        std::uint64_t blocks = 0;
    };
    std::uint64_t from_ns = 0; // where the span begins, since the log was opened
    std::uint64_t ns = 0;      // the moment: the first in the span at which the most was alive
    // Of the program's blocks, as it had requested them. What `parts` lack is of other stacks.
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::vector<Part> parts; // the largest first
};

struct Compositions {
    std::vector<ComposingStack> stacks; // those first that had the most at any of the moments
    std::vector<Composition> moments;   // in order of time
};

enum class AdviceKind {
    never_freed,     // alive at the peak, and until the program ended
    released_late,   // its phase was over before the peak, and no other began before its free
    allocated_early, // kept for a phase that began only after the peak
    redundant_pairs, // allocated and freed again and again, always the same size
};

struct Advice : CallPlace {
    AdviceKind kind = AdviceKind::never_freed;
    std::uint64_t saving = 0; // bytes at the peak, at most; 0 for redundant_pairs: they save calls
    std::uint64_t blocks = 0; // blocks at the peak; for redundant_pairs, the number of pairs
    std::uint64_t bytes = 0;  // for redundant_pairs, the size of each block; else 0
    std::string phase;        // the phase that allocated the memory
    std::string other_phase;  // for allocated_early, the phase that the memory was kept for
};

// What was asked of an allocator when the driver had to be asked again.
struct RetryPlace : CallPlace {
    std::uint64_t retries = 0;
    std::uint64_t most_requested = 0; // of the driver, in bytes
};

enum class HolderKind {
    blocks,       // what an allocator of the program's has cut for it
    cache,        // what such an allocator has beside its blocks
    module,       // allocations of the driver's, by the module that called it
    pool,         // what vramscope's pool has beside its blocks
    unattributed, // contexts, loaded code, other processes, and what the driver rounded up
    unknown,      // the program's, but the log does not tell of which call
};

// Who had memory of a device at one moment.
struct MemoryHolder {
    HolderKind kind = HolderKind::unknown;
    std::string name;    // of the allocator, or the file of the module; empty: not known
    std::string library; // "cuBLAS": of NVIDIA's, to which it belongs or for which it was taken
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0; // 0: these are none
};

// An allocator of the program's that took memory of the device and cut blocks from it.
struct AllocatorMemory {
    std::string name; // "PyTorch"
    Stat reserved;    // bytes
    Stat allocated;   // bytes of blocks, as it rounded them up
    Stat blocks;
    // Bytes of blocks, and of those that were given back while another stream still uses them.
    // Empty: it does not tell.
    std::optional<Stat> active;
    // How often the driver refused it memory, and it gave memory back and asked again.
    std::uint64_t retries = 0;
    std::vector<RetryPlace> retried_at; // most retries first
};

struct MemoryReport {
    std::int32_t device = -1;      // -1: not known
    std::uint64_t total_bytes = 0; // the device's size; 0: not known
    bool pooled = false;           // else nothing is known of what the driver reserves

    MemoryMoment at_peak;          // when the most was allocated
    MemoryMoment at_reserved_peak; // when the most was reserved
    MemoryMoment at_end;
    std::vector<MarkedMoment> at_marks; // the first kMostMarkedMoments
    FreePieces free_at_peak;            // if pooled: at the peak of what the pool had allocated
    FreePieces free_at_end;
    std::uint64_t peak_direct = 0; // the peak of memory from the driver, past the pool
    Stat requested;                // over the log, pooled or not
    Stat blocks;
    std::vector<AllocatorMemory> allocators;
    // Each adds up to what is used on the device; where the driver did not tell, to what is reserved.
    std::vector<MemoryHolder> holders_at_peak;
    std::vector<MemoryHolder> holders_at_end;

    Peak peak;
    std::vector<MemoryTime> timeline;
    std::vector<MemoryTime> fine_timeline; // the same in more and shorter spans, for a page
    Compositions compositions;             // along the timeline; empty unless they were asked for
    std::vector<Advice> advice;            // the largest saving first

    std::uint64_t peak_allocated() const noexcept { return at_peak.parts.allocated; }
    std::uint64_t peak_reserved() const noexcept { return at_reserved_peak.parts.reserved; }

    // Two honest definitions of how well the reserved memory was used; 1 if nothing was reserved.
    // This one compares the two peaks, at whatever times they were. In papers, 1 minus this number
    // is called fragmentation.
    double utilisation_of_peaks() const noexcept;
    // This one is taken at the moment at which the most was reserved.
    double utilisation_at_reserved_peak() const noexcept;
};
inline constexpr std::size_t kMostMarkedMoments = 64;

// The word of the JSON report: "never-freed".
const char* name(AdviceKind kind) noexcept;
const char* name(HolderKind kind) noexcept; // "module"

} // namespace vramscope::report
