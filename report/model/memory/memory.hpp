// report/model/memory/memory.hpp — the memory of one device as a report keeps it.
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
#include "report/model/memory/mempool.hpp"
#include "report/model/memory/pool_stats.hpp"
#include "report/model/memory/span_life.hpp"
#include "report/model/memory/waterfall.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// A waterfall and its moment.
struct MemoryMoment {
    std::uint64_t ns = 0; // since the log was opened
    Waterfall parts;
};
template <>
struct Fields<MemoryMoment> {
    static constexpr const char* kName = "moment";
    static constexpr FieldList kAll{
        Field{"ns", &MemoryMoment::ns},
        Field{"waterfall", &MemoryMoment::parts},
    };
};
struct MarkedMoment : MemoryMoment {
    std::string mark;
};
template <>
struct Fields<MarkedMoment> {
    static constexpr const char* kName = "marked_moment";
    static constexpr auto kAll =
        joined(Fields<MemoryMoment>::kAll, FieldList{Field{"mark", &MarkedMoment::mark}});
};

// What one module, phase or API had at a peak.
struct PeakPart {
    std::string name; // empty: not known, or outside of any phase
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};
template <>
struct Fields<PeakPart> {
    static constexpr const char* kName = "peak_part";
    static constexpr FieldList kAll{
        Field{"name", OrNull{&PeakPart::name},
              "null: not known, or outside of any NVTX range. (others): the small ones together."},
        Field{"bytes", &PeakPart::bytes},
        Field{"blocks", &PeakPart::blocks},
    };
};
struct PeakStack : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    format::Memory memory = format::Memory::none;
    std::string phase; // path, if all blocks share it
};
template <>
struct Fields<PeakStack> {
    static constexpr const char* kName = "peak_stack";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"bytes", &PeakStack::bytes},
            Field{"blocks", &PeakStack::blocks},
            Field{"memory", &PeakStack::memory},
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
            Field{"phase", OrNull{&PeakStack::phase},
                  "Path of NVTX ranges that all blocks share, numbers as #."},
        },
        kStack);
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
template <>
struct Fields<Peak> {
    static constexpr const char* kName = "peak";
    static constexpr const char* kSays =
        "What was alive when the most was allocated, as it was asked for. stacks and more, "
        "modules, phases and apis each sum up to bytes.";
    static constexpr FieldList kAll{
        Field{"bytes", &Peak::bytes},
        Field{"blocks", &Peak::blocks},
        Field{"stacks", &Peak::stacks, "Largest first."}.rows_at_most(50),
        Field{"more",
              Group{Field{"stacks", &Peak::more_stacks}, Field{"bytes", &Peak::more_bytes},
                    Field{"blocks", &Peak::more_blocks}},
              "What other stacks had, together."},
        Field{"modules", &Peak::modules, "Of the innermost visible frame."},
        Field{"phases", &Peak::phases, "Paths of NVTX ranges, numbers as #."},
        Field{"apis", &Peak::apis},
    };
};

struct ComposingStack : CallPlace {
    format::Memory memory = format::Memory::none;
    std::vector<SpanLife> lives; // of its blocks; spans are those of Compositions::moments
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
    // Of the span: how many blocks came in it, by the std::bit_width of their sizes, and how long
    // those lived that the program freed in it, in the bins of ChurnReport::lifetimes.
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> lifetimes;
};

struct Compositions {
    std::vector<ComposingStack> stacks; // those first that had the most at any of the moments
    std::vector<Composition> moments;   // in order of time
    std::vector<SpanLife> lives;        // of all blocks, also those of other stacks
    // Of a collected log: when. What was there then is the first moment, and came in it.
    std::optional<std::uint64_t> since_ns;
};

enum class AdviceKind {
    never_freed,     // alive at the peak, and until the program ended
    released_late,   // its phase was over before the peak, and no other began before its free
    allocated_early, // kept for a phase that began only after the peak
    grow_by_copy,    // an old and a larger new block of one place lived together at the peak
    redundant_pairs, // allocated and freed again and again, always the same size
};
template <>
struct Words<AdviceKind> {
    static constexpr format::Word<AdviceKind> kAll[] = {
        {AdviceKind::never_freed, "never-freed"},
        {AdviceKind::released_late, "released-late"},
        {AdviceKind::allocated_early, "allocated-early"},
        {AdviceKind::grow_by_copy, "grow-by-copy"},
        {AdviceKind::redundant_pairs, "redundant-pairs"},
    };
};

struct Advice : CallPlace {
    AdviceKind kind = AdviceKind::never_freed;
    std::uint64_t saving = 0; // bytes at the peak, at most; 0 for redundant_pairs: they save calls
    std::uint64_t blocks = 0; // blocks at the peak; for redundant_pairs, the number of pairs
    std::uint64_t bytes = 0;  // for redundant_pairs, the size of each block; else 0
    std::string phase;        // the phase that allocated the memory
    std::string other_phase;  // for allocated_early, the phase that the memory was kept for
};
template <>
struct Fields<Advice> {
    static constexpr const char* kName = "advice";
    static constexpr const char* kSays =
        "What could be held for less time, by the times of allocations and frees; what uses memory "
        "is not seen. saving_bytes: at the peak, at most, if this alone is changed; 0 of "
        "redundant-pairs, which save calls.";
    static constexpr auto kAll = joined(
        FieldList{
            Field{
                "kind", &Advice::kind,
                "never-freed: alive at the peak and never freed. released-late: alive at the "
                "peak, though its phase was over by then, and freed before one began that was not "
                "open at the peak either. allocated-early: alive at the peak, and kept for a "
                "phase that began only afterwards: freed in it, or after it had begun. "
                "grow-by-copy: a block was alive at the peak beside a larger one of its place, and "
                "was freed next. "
                "redundant-pairs: freed and allocated again with the same size, over and over."},
            Field{"saving_bytes", &Advice::saving},
            Field{"blocks", &Advice::blocks, "At the peak; of redundant-pairs: pairs."},
            Field{"block_bytes", OrNull{&Advice::bytes},
                  "Of each block of redundant-pairs; null of the others."},
            Field{"phase", OrNull{&Advice::phase}, "That allocated; numbers as #."},
            Field{"other_phase", OrNull{&Advice::other_phase},
                  "allocated-early: that it was kept for."},
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
        },
        kStack);
};

// What was asked of an allocator when the driver had to be asked again.
struct RetryPlace : CallPlace {
    std::uint64_t retries = 0;
    std::uint64_t most_requested = 0; // of the driver, in bytes
};
template <>
struct Fields<RetryPlace> {
    static constexpr const char* kName = "retry";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"retries", &RetryPlace::retries},
            Field{"most_requested_bytes", &RetryPlace::most_requested, "Of the driver."},
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
        },
        kStack);
};

enum class HolderKind {
    blocks,       // what an allocator of the program's has cut for it
    cache,        // what such an allocator has beside its blocks
    module,       // allocations of the driver's, by the module that called it
    pool,         // what vramscope's pool has beside its blocks
    contexts,     // what the driver was seen to take for contexts
    objects,      // and for streams, executable graphs and code
    unattributed, // what else it counts: other processes, first contexts, what it rounded up
    unknown,      // the program's, but the log does not tell of which call
};
template <>
struct Words<HolderKind> {
    static constexpr format::Word<HolderKind> kAll[] = {
        {HolderKind::blocks, "blocks"},
        {HolderKind::cache, "cache"},
        {HolderKind::module, "module"},
        {HolderKind::pool, "pool"},
        {HolderKind::contexts, "contexts"},
        {HolderKind::objects, "objects"},
        {HolderKind::unattributed, "unattributed"},
        {HolderKind::unknown, "unknown"},
    };
};

// Who had memory of a device at one moment.
struct MemoryHolder {
    HolderKind kind = HolderKind::unknown;
    std::string name;    // of the allocator, or the file of the module; empty: not known
    std::string library; // "cuBLAS": of NVIDIA's, to which it belongs or for which it was taken
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0; // 0: these are none
};
template <>
struct Fields<MemoryHolder> {
    static constexpr const char* kName = "holder";
    static constexpr FieldList kAll{
        Field{"kind", &MemoryHolder::kind,
              "blocks: that an allocator of the program's has cut. cache: what it has beside them. "
              "module: allocations of the driver's, by the module that called it. pool: what "
              "vramscope's pool has beside its blocks. contexts, objects: what the driver was seen "
              "to take for contexts, and for streams, executable graphs, modules and libraries. "
              "unattributed: what else it counts, as for other processes and the first context of "
              "a device. unknown: the program's, of a call that the log does not tell."},
        Field{"name", OrNull{&MemoryHolder::name}, "Of the allocator, or the file of the module."},
        Field{"library", OrNull{&MemoryHolder::library},
              "Of NVIDIA's, as cuBLAS, to which the module belongs, or for which an allocator's "
              "block was taken."},
        Field{"bytes", &MemoryHolder::bytes},
        Field{"blocks", &MemoryHolder::blocks, "0: these are none."},
    };
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
template <>
struct Fields<AllocatorMemory> {
    static constexpr const char* kName = "allocator";
    static constexpr const char* kSays = "Bytes as it counts them: segments that it has, and its "
                                         "live blocks as it rounded them up.";
    static constexpr FieldList kAll{
        Field{"name", &AllocatorMemory::name},
        Field{"reserved_bytes", &AllocatorMemory::reserved},
        Field{"allocated_bytes", &AllocatorMemory::allocated},
        Field{"blocks", &AllocatorMemory::blocks},
        Field{"active_bytes", &AllocatorMemory::active,
              "Those allocated, and those that the program freed while another stream still used "
              "them (record_stream), which count as its cache elsewhere. null: not known."}
            .since(6),
        Field{"num_alloc_retries", &AllocatorMemory::retries,
              "How often the driver refused it memory, and it gave its cache back and asked again, "
              "in vain or not."}
            .since(6),
        Field{"retried_at", &AllocatorMemory::retried_at,
              "For which requests of the program; most retries first."}
            .since(6),
    };
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
    std::vector<Mempool> mempools;        // each when it kept the most
    std::vector<Mempool> mempools_at_end; // the same ones, as the driver told of them last
    // Each adds up to what is used on the device; where the driver did not tell, to what is
    // reserved.
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

template <>
struct Fields<MemoryReport> {
    static constexpr const char* kName = "device_memory";
    static constexpr auto pooled = &MemoryReport::pooled;
    static constexpr FieldList kAll{
        Field{"device", Ordinal{&MemoryReport::device}},
        Field{"total_bytes", OrNull{&MemoryReport::total_bytes}},
        Field{"pooled", pooled,
              "false: reserved is what the program asked for; what the driver rounds up is not "
              "known."},
        Field{"at_peak", &MemoryReport::at_peak,
              "The first moment at which the most was allocated."},
        Field{"at_reserved_peak", &MemoryReport::at_reserved_peak},
        Field{"at_end", &MemoryReport::at_end},
        Field{"at_marks", &MemoryReport::at_marks}.rows_at_most(kMostMarkedMoments),
        Field{"utilisation_of_peaks", &MemoryReport::utilisation_of_peaks,
              "Peak of allocated by peak of reserved, each at its own time; 1 without any. What "
              "papers call fragmentation is 1 minus this."}
            .at_least(0),
        Field{"utilisation_at_reserved_peak", &MemoryReport::utilisation_at_reserved_peak,
              "Allocated by reserved when the most was reserved."}
            .at_least(0),
        Field{"free_at_pool_peak", When{pooled, &MemoryReport::free_at_peak},
              "When the pool had the most allocated; null: there was no pool."},
        Field{"free_at_end", When{pooled, &MemoryReport::free_at_end}},
        Field{"requested_bytes", &MemoryReport::requested, "Over the whole log, pooled or not."},
        Field{"blocks", &MemoryReport::blocks},
        Field{"allocators", &MemoryReport::allocators,
              "Allocators of the program's own, as PyTorch's, that took memory of this device and "
              "cut blocks from it."}
            .since(6),
        Field{"mempools", &MemoryReport::mempools,
              "The driver's own pools, each at the moment at which it was seen to keep the most "
              "that it had not given out."}
            .since(6),
        Field{"mempools_at_end", &MemoryReport::mempools_at_end,
              "The same pools, as the driver told of them last: as the program ended, where it "
              "ended by itself."}
            .since(6),
        Field{"holders_at_peak", &MemoryReport::holders_at_peak,
              "Who had the memory when the most was allocated: rows that add up to what is used on "
              "the device; where the driver did not tell, to what is reserved."}
            .since(6),
        Field{"holders_at_end", &MemoryReport::holders_at_end, "The same at the end."}.since(6),
        Field{"peak_direct_bytes", &MemoryReport::peak_direct,
              "The most that was past the pool at once."},
        Field{"peak", &MemoryReport::peak},
        Field{"timeline", &MemoryReport::timeline}.rows_at_most(256),
        Field{"advice", &MemoryReport::advice, "The largest saving first."},
    };
};

} // namespace vramscope::report
