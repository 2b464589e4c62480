// tools/simgpu/driver/memory/pool.hpp — stream-ordered pools.
//
// A pool takes segments from its device and cuts allocations out of them. A freed piece may be used
// again at once by the stream that freed it, by others when that free has been reached. Chunk size
// and trimming are guesses (GUESSES.md). Pools of host and of managed memory take pages of the process
// instead, which nobody counts.
#pragma once

#include "tools/simgpu/driver/memory/allocation.hpp"

#include <compare>
#include <list>

namespace simgpu {

// What a pool has memory of: every place has a default pool and a current one.
struct PoolPlace {
    CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemLocationType where = CU_MEM_LOCATION_TYPE_DEVICE;
    int id = 0; // 0 where a location has no number
    auto operator<=>(const PoolPlace&) const = default;
};

struct Pool {
    std::atomic<bool> alive{false};
    PoolPlace place;
    Device* device = nullptr; // null: pages of the process
    std::uint64_t most_bytes = UINT64_MAX;
    bool is_default = false;
    bool exportable = false;
    bool destroyed = false; // its allocations live on
    std::uint64_t release_threshold = 0;
    std::map<CUmemPool_attribute, int> reuse_options;
    std::map<CUdevice, CUmemAccess_flags> access;

    struct Pending { // freed in stream order, not yet reached when it was freed
        std::uintptr_t start;
        std::size_t bytes;
        Mark freed;
    };
    std::map<std::uintptr_t, std::size_t> segments;
    FreeRanges free;
    std::list<Pending> pending;
    std::list<Pending> leaving; // likewise, whole: what was queued before the free may touch it
    std::uint64_t used = 0;
    std::uint64_t reserved = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved_high = 0;

    int import_file = -1; // of another process's pool
};

Slots<Pool>& pools();
Pool* open_pool(const PoolPlace& place);
// Null for a handle that was never given out, or is destroyed.
Pool* living_pool(CUmemoryPool handle);
// CUDA_ERROR_INVALID_VALUE: no pool can be there.
CUresult place_of(CUmemAllocationType type, const CUmemLocation& location, PoolPlace& place);
PoolPlace place_of(const Device& device);
Pool* default_pool(const PoolPlace& place);
// What cuMemAllocAsync means there.
Pool* current_pool(const PoolPlace& place);
void forget_current_pool_locked(const Pool& pool);
// What pointer attributes say of its memory.
bool is_host_memory(const Pool& pool);
bool is_managed_memory(const Pool& pool);

// Memory for an allocation on a stream; 0 when the device has none left.
std::uintptr_t take_from_pool_locked(Pool& pool, std::size_t bytes, Stream& stream);
// An allocation's bytes, at once (cuMemFree) or when the mark is reached (cuMemFreeAsync).
void give_to_pool_locked(const Allocation& allocation, Mark freed = {});
// Freed in stream order at a place that is still to come, so that queued work may use it.
bool is_leaving_locked(std::uintptr_t start, std::uintptr_t end);
// Free segments beyond `keep` bytes go back to the device.
void trim_pool_locked(Pool& pool, std::uint64_t keep);
// A destroyed pool lives until its last piece is back.
void close_pool_if_unused_locked(Pool& pool);
// What a pool holds above its release threshold goes back to the device when a program
// synchronises.
void trim_pools_after_sync();

} // namespace simgpu
