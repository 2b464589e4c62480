// report/model/memory/pool_stats.hpp — the counters of a caching allocator, named as in PyTorch.
//
// Each has a current value, its peak, and what went in and out in all; for all blocks, and apart
// for those of large and of small segments. README.md of report has the words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/model/fields.hpp"

namespace vramscope::report {

struct Stat {
    std::uint64_t current = 0;
    std::uint64_t peak = 0;
    std::uint64_t allocated = 0; // what it rose by, in all
    std::uint64_t freed = 0;     // what it fell by

    void rise(std::uint64_t amount) noexcept
    {
        current += amount;
        allocated += amount;
        peak = std::max(peak, current);
    }
    void fall(std::uint64_t amount) noexcept
    {
        current -= amount;
        freed += amount;
    }
    void change(std::uint64_t from, std::uint64_t to) noexcept
    {
        if (to >= from)
            rise(to - from);
        else
            fall(from - to);
    }
};
template <>
struct Fields<Stat> {
    static constexpr const char* kName = "stat";
    static constexpr FieldList kAll{
        Field{"current", &Stat::current},
        Field{"peak", &Stat::peak},
        Field{"allocated", &Stat::allocated},
        Field{"freed", &Stat::freed},
    };
};

struct PoolStat {
    Stat all;
    Stat large_pool;
    Stat small_pool;

    Stat& part(bool small) noexcept { return small ? small_pool : large_pool; }
    void rise(bool small, std::uint64_t amount) noexcept
    {
        all.rise(amount);
        part(small).rise(amount);
    }
    void fall(bool small, std::uint64_t amount) noexcept
    {
        all.fall(amount);
        part(small).fall(amount);
    }
    void change(bool small, std::uint64_t from, std::uint64_t to) noexcept
    {
        all.change(from, to);
        part(small).change(from, to);
    }
};

// Those of the counters below that a waterfall is made of, at one moment.
struct PoolBytes {
    std::uint64_t requested = 0;
    std::uint64_t allocated = 0;
    std::uint64_t active = 0;
    std::uint64_t inactive_split = 0;
    std::uint64_t reserved = 0;
};

// The pool of one device as a record left it.
struct PoolChange {
    std::uint32_t record = 0; // which of several that were taken together
    std::int32_t device = -1; // -1: not known
    PoolBytes bytes;
};

// Numbers by names that are made of several words.
struct NamedCounts : std::vector<std::pair<std::string, std::uint64_t>> {};

struct PoolStats {
    PoolStat allocation; // blocks that the program has
    PoolStat segment;
    PoolStat active; // blocks that it has, or freed and may not be handed out yet
    PoolStat inactive_split;
    PoolStat allocated_bytes;
    PoolStat reserved_bytes;
    PoolStat active_bytes;
    PoolStat inactive_split_bytes;
    PoolStat requested_bytes;
    Stat oversize_allocations; // of max_split_size or more; none without that setting
    Stat oversize_segments;
    std::uint64_t num_alloc_retries = 0;
    std::uint64_t num_ooms = 0;
    std::uint64_t num_sync_all_streams = 0; // ours, of the whole process: the log tells no device
    std::uint64_t num_device_alloc = 0;
    std::uint64_t num_device_free = 0;

    PoolBytes bytes() const noexcept
    {
        return {.requested = requested_bytes.all.current,
                .allocated = allocated_bytes.all.current,
                .active = active_bytes.all.current,
                .inactive_split = inactive_split_bytes.all.current,
                .reserved = reserved_bytes.all.current};
    }
    NamedCounts
    named() const; // "allocation.large_pool.peak", as torch.cuda.memory_stats() has them
};

// The counters in the order in which they are shown.
struct NamedPoolStat {
    const char* key; // PyTorch's
    PoolStat PoolStats::*stat;
};
inline constexpr std::array kPoolStats{
    NamedPoolStat{"allocation", &PoolStats::allocation},
    NamedPoolStat{"segment", &PoolStats::segment},
    NamedPoolStat{"active", &PoolStats::active},
    NamedPoolStat{"inactive_split", &PoolStats::inactive_split},
    NamedPoolStat{"allocated_bytes", &PoolStats::allocated_bytes},
    NamedPoolStat{"reserved_bytes", &PoolStats::reserved_bytes},
    NamedPoolStat{"active_bytes", &PoolStats::active_bytes},
    NamedPoolStat{"inactive_split_bytes", &PoolStats::inactive_split_bytes},
    NamedPoolStat{"requested_bytes", &PoolStats::requested_bytes},
};

} // namespace vramscope::report
