// tools/simgpu/driver/pool.hpp — stream-ordered pools.
//
// A pool takes segments from its device and cuts allocations out of them. A freed piece may be used
// again at once by the stream that freed it, by others when that free has been reached. Chunk size
// and trimming are guesses (README).
#pragma once

#include "tools/simgpu/driver/allocation.hpp"

#include <list>

namespace simgpu {

struct Pool {
    std::atomic<bool> alive{false};
    Device* device = nullptr;
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
    std::uint64_t used = 0;
    std::uint64_t reserved = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved_high = 0;

    int import_file = -1; // of another process's pool
};

Slots<Pool>& pools();
Pool* default_pool(Device& device);

// Memory for an allocation on a stream; 0 when the device has none left.
std::uintptr_t take_from_pool_locked(Pool& pool, std::size_t bytes, Stream& stream);
// An allocation's bytes, at once (cuMemFree) or when the mark is reached (cuMemFreeAsync).
void give_to_pool_locked(const Allocation& allocation, Mark freed = {});
// Free segments beyond `keep` bytes go back to the device.
void trim_pool_locked(Pool& pool, std::uint64_t keep);
// What a pool holds above its release threshold goes back to the device when a program
// synchronises.
void trim_pools_after_sync();

} // namespace simgpu
