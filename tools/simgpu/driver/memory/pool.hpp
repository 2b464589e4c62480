// tools/simgpu/driver/memory/pool.hpp — stream-ordered pools.
//
// A pool takes segments from its device and cuts allocations out of them. The stream that freed a
// piece may use it again at once, other streams when the free has been reached. Chunk size and
// trimming are guesses (GUESSES.md). Pools of host and of managed memory take pages of the process
// instead, which are not counted.
#pragma once

#include <compare>
#include <list>

#include "tools/simgpu/driver/memory/allocation.hpp"

namespace simgpu {

// Where a pool's memory is. Every place has a default pool and a current one.
struct PoolPlace {
    CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemLocationType where = CU_MEM_LOCATION_TYPE_DEVICE;
    int id = 0; // 0 where a location has no number
    auto operator<=>(const PoolPlace&) const = default;
};

struct Pool {
    std::atomic<bool> alive{false};
    PoolPlace place;
    Device* device = nullptr; // null if it takes pages of the process
    std::uint64_t most_bytes = UINT64_MAX;
    bool is_default = false;
    bool exportable = false;
    bool destroyed = false; // its allocations live on
    std::uint64_t release_threshold = 0;
    std::map<CUmemPool_attribute, int> reuse_options;
    std::map<CUdevice, CUmemAccess_flags> access;

    // Freed in stream order, at a place that had not been reached then.
    struct Pending {
        std::uintptr_t start;
        std::size_t bytes;
        Mark freed;
    };
    std::map<std::uintptr_t, std::size_t> segments;
    FreeRanges free;
    std::list<Pending> pending;
    // The same pieces uncut: work that was queued before the free may touch them.
    std::list<Pending> leaving;
    std::uint64_t used = 0;
    std::uint64_t reserved = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved_high = 0;

    int import_file = -1; // the file of another process's pool; -1 for our own
};

Pool* open_pool(const PoolPlace& place);
// Null for a handle that was never given out or is destroyed.
Pool* living_pool(CUmemoryPool handle);
// CUDA_ERROR_INVALID_VALUE if no pool can be there.
CUresult place_of(CUmemAllocationType type, const CUmemLocation& location, PoolPlace& place);
PoolPlace place_of(const Device& device);
Pool* default_pool(const PoolPlace& place);
// The pool that cuMemAllocAsync uses there.
Pool* current_pool(const PoolPlace& place);
void forget_current_pool_locked(const Pool& pool);
// What pointer attributes say about its memory.
bool is_host_memory(const Pool& pool);
bool is_managed_memory(const Pool& pool);

// Memory for an allocation in a stream; 0 if the device has none left.
std::uintptr_t take_from_pool_locked(Pool& pool, std::size_t bytes, Stream& stream);
// Takes an allocation's bytes back, at once (cuMemFree) or when the mark
// is reached (cuMemFreeAsync).
void give_to_pool_locked(const Allocation& allocation, Mark freed = {});
// Whether it was freed in stream order at a place that is not reached yet, so that queued work may
// still use it.
bool is_leaving_locked(std::uintptr_t start, std::uintptr_t end);
// Free segments beyond `keep` bytes go back to the device.
void trim_pool_locked(Pool& pool, std::uint64_t keep);
// A destroyed pool lives until its last piece is given back.
void close_pool_if_unused_locked(Pool& pool);
// When a program synchronises, what its pools hold above their release thresholds goes back
// to the devices.
void trim_pools_after_sync();

} // namespace simgpu
