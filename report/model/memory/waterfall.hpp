// report/model/memory/waterfall.hpp — where a device's memory was at one moment: parts that add up.
//
// Each sum is exact whatever the log says. Where a process had no pool, nothing is cached, and
// reserved = allocated = requested = direct: what the driver rounded up is in `unattributed`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "report/model/fields.hpp"

namespace vramscope::report {

struct Waterfall {
    // The driver's word of the latest moment at which it was asked, moved along with `reserved`.
    bool used_known = false;        // else the next two are 0
    std::uint64_t used = 0;         // = unattributed + reserved; by all processes
    std::uint64_t unattributed = 0; // other processes, contexts, modules, the driver's rounding
    std::uint64_t contexts = 0;     // the part of it that the driver was seen to take for contexts
    std::uint64_t objects = 0;      // and for streams, graphs and code
    std::uint64_t reserved = 0;     // = releasable + stuck + pending + kept + allocated
    std::uint64_t releasable = 0;   // whole segments of the pool in which no block is
    std::uint64_t stuck = 0;        // free pieces of segments that hold a block
    std::uint64_t pending = 0;      // freed, not safe to hand out again yet
    std::uint64_t kept = 0;         // by allocators of the program's, beside the blocks they cut
    std::uint64_t allocated = 0;    // = internal + requested
    std::uint64_t internal = 0;     // what blocks of the pool are larger than was asked for
    std::uint64_t requested = 0;    // what the program has, by the blocks that were cut for it
    std::uint64_t direct = 0;       // the part of requested that went past the pool

    std::uint64_t cached() const noexcept { return releasable + stuck + pending + kept; }
    bool adds_up() const noexcept
    {
        return (used_known ? used == unattributed + reserved : used + unattributed == 0) &&
               contexts + objects <= unattributed &&
               reserved == releasable + stuck + pending + kept + allocated &&
               allocated == internal + requested;
    }
};
template <>
struct Fields<Waterfall> {
    static constexpr const char* kName = "waterfall";
    static constexpr const char* kSays =
        "Where the memory of a device was at one moment, in bytes: device_used = unattributed + "
        "reserved, reserved = releasable + stuck + pending + kept + allocated, allocated = "
        "internal "
        "+ requested. Without a pool reserved = allocated = requested = direct.";
    static constexpr FieldList kAll{
        Field{"device_used", When{&Waterfall::used_known, &Waterfall::used},
              "By all processes: the driver's word of the latest moment at which it was asked, "
              "moved along with reserved. null: it was not asked, as unattributed."},
        Field{"unattributed", When{&Waterfall::used_known, &Waterfall::unattributed},
              "Other processes, contexts, modules, what the driver rounds up."},
        Field{"contexts", When{&Waterfall::used_known, &Waterfall::contexts},
              "Of unattributed: what the driver was seen to take for contexts that were there. "
              "Nothing is known of the first context of a device."}
            .since(6),
        Field{"objects", When{&Waterfall::used_known, &Waterfall::objects},
              "Of unattributed: what the driver was seen to take for streams, executable graphs, "
              "modules and libraries that were there."}
            .since(6),
        Field{"reserved", &Waterfall::reserved,
              "Segments of the pool, and what the program took past it."},
        Field{"releasable", &Waterfall::releasable, "Whole segments in which no block is."},
        Field{"stuck", &Waterfall::stuck, "Free pieces of segments that hold a block."},
        Field{"pending", &Waterfall::pending, "Freed, not safe to hand out again yet."},
        Field{
            "kept", &Waterfall::kept,
            "By allocators of the program's, as PyTorch's cache, beside the blocks that they cut."}
            .since(6),
        Field{"allocated", &Waterfall::allocated},
        Field{"internal", &Waterfall::internal,
              "What blocks of the pool are larger than was asked for."},
        Field{"requested", &Waterfall::requested},
        Field{"direct", &Waterfall::direct, "Of requested: from the driver, past the pool."},
    };
};

// The memory of a device, or of the pool on it, in a span of time.
struct MemorySpan {
    std::uint64_t allocated = 0; // at its end, as are the next two
    std::uint64_t active = 0;    // allocated and pending
    std::uint64_t reserved = 0;
    std::uint64_t peak_allocated = 0; // within it
    std::uint64_t peak_reserved = 0;
    std::uint64_t least_allocated = 0;
    // What all processes use of the device, as the driver told it last. Without a value: the driver
    // was not asked within it, and what it said before holds.
    std::optional<std::uint64_t> used;

    // Takes in the span that follows.
    void join(const MemorySpan& next) noexcept
    {
        allocated = next.allocated;
        active = next.active;
        reserved = next.reserved;
        peak_allocated = std::max(peak_allocated, next.peak_allocated);
        peak_reserved = std::max(peak_reserved, next.peak_reserved);
        least_allocated = std::min(least_allocated, next.least_allocated);
        if (next.used)
            used = next.used;
    }
};
struct MemoryTime : MemorySpan {
    std::uint64_t ns = 0; // where the span begins
};
// A pool has no `used_bytes`: what it had is its own.
inline constexpr FieldList kTimeBegin{
    Field{"ns", &MemoryTime::ns, "Where the span begins."},
    Field{"allocated_bytes", &MemorySpan::allocated,
          "At its end, as are active_bytes and reserved_bytes."},
    Field{"active_bytes", &MemorySpan::active},
    Field{"reserved_bytes", &MemorySpan::reserved},
};
inline constexpr FieldList kTimePeaks{
    Field{"peak_allocated_bytes", &MemorySpan::peak_allocated, "Within it."},
    Field{"peak_reserved_bytes", &MemorySpan::peak_reserved},
};
template <>
struct Fields<MemoryTime> {
    static constexpr const char* kName = "memory_time";
    static constexpr const char* kSays =
        "A span of time: what held at its end, and the peaks within it.";
    static constexpr auto kAll = joined(
        kTimeBegin,
        FieldList{Field{"used_bytes", &MemorySpan::used,
                        "Of the device, by all processes, as the driver said; null: it was not "
                        "asked within the span."}},
        kTimePeaks);
};
struct PoolTime {
    const MemoryTime* time;
};
template <>
struct Fields<PoolTime> {
    static constexpr const char* kName = "pool_time";
    static constexpr auto kAll = through(&PoolTime::time, joined(kTimeBegin, kTimePeaks));
};

// For a size s, the *unusable* part of the free bytes is 1 - sum of floor(piece / s) * s / all
// free bytes; 1 if none is free.
struct FreePieces {
    std::uint64_t bytes = 0;
    std::uint64_t pieces = 0;
    std::uint64_t largest = 0;
    std::uint64_t largest_request = 0; // the largest in the log, as the pool rounded it; 0: none
    double unusable_for_largest = 1;
    double unusable_mean = 1; // over all requests of the log, each with its own size
};
template <>
struct Fields<FreePieces> {
    static constexpr const char* kName = "free_pieces";
    static constexpr const char* kSays =
        "What the pool could have handed out at one moment. The unusable part for a size is 1 - "
        "sum of floor(piece / size) * size / bytes; 1 if nothing is free.";
    static constexpr FieldList kAll{
        Field{"bytes", &FreePieces::bytes},
        Field{"pieces", &FreePieces::pieces},
        Field{"largest", &FreePieces::largest},
        Field{"largest_request", &FreePieces::largest_request,
              "That the pool served in the whole log, as it rounded it."},
        Field{"unusable_for_largest_request", &FreePieces::unusable_for_largest}
            .at_least(0)
            .at_most(1),
        Field{"unusable_mean", &FreePieces::unusable_mean,
              "Over all requests that the pool served, each with its own size."}
            .at_least(0)
            .at_most(1),
    };
};

} // namespace vramscope::report
