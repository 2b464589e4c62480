// interpose/serve/contexts/mempools.cpp — known pools under a lock, current ones without.
#include "interpose/serve/contexts/mempools.hpp"

#include <algorithm>

#include "tracker/capture/lock.hpp"

namespace vramscope::hooks {
namespace {

struct Noted {
    std::uint64_t handle;     // 0: the slot is free
    std::uint32_t generation; // the log that has it
    std::int64_t device;      // -1: its memory is not on a device
    std::uint64_t maximum;
};

constexpr std::size_t kMaxPools = 256;
constexpr std::size_t kMaxDevices = 128;

constinit capture::Lock lock;
constinit Noted pools[kMaxPools]{};
constinit std::atomic<CUmemoryPool> current[kMaxDevices]{};

Noted* find(std::uint64_t handle) noexcept
{
    for (Noted& pool : pools)
        if (pool.handle == handle)
            return &pool;
    return nullptr;
}

// True if this log does not have it yet.
bool is_new(const format::Pool& seen, std::uint64_t maximum) noexcept
{
    const std::uint32_t generation = log::process->generation;
    const bool on_device = seen.location_type == CU_MEM_LOCATION_TYPE_DEVICE;
    const std::lock_guard guard(lock);
    Noted* pool = find(seen.handle);
    if (pool && pool->generation == generation)
        return false;
    if (pool || (pool = find(0)))
        *pool = {seen.handle, generation, on_device ? seen.location : -1,
                 std::max(maximum, pool->maximum)};
    return true;
}

} // namespace

void note_mempool(log::Thread& thread, const format::Pool& pool, std::uint64_t maximum) noexcept
{
    if (pool.handle && is_new(pool, maximum))
        log::write(thread, pool);
}

Mempool next_mempool(std::size_t& at, std::int64_t device) noexcept
{
    const std::lock_guard guard(lock);
    while (at < kMaxPools)
        if (const Noted& pool = pools[at++]; pool.handle && pool.device == device)
            return {reinterpret_cast<CUmemoryPool>(pool.handle), pool.maximum};
    return {};
}

std::int64_t device_of_mempool(CUmemoryPool pool) noexcept
{
    const std::lock_guard guard(lock);
    const Noted* const noted = find(reinterpret_cast<std::uintptr_t>(pool));
    return noted ? noted->device : -1;
}

void forget_mempool(CUmemoryPool pool) noexcept
{
    const std::lock_guard guard(lock);
    if (Noted* noted = pool ? find(reinterpret_cast<std::uintptr_t>(pool)) : nullptr)
        *noted = {};
}

void mempool_gone(CUmemoryPool pool) noexcept
{
    for (std::atomic<CUmemoryPool>& one : current) {
        CUmemoryPool expected = pool;
        one.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
    }
}

void set_current_mempool(CUdevice device, CUmemoryPool pool) noexcept
{
    if (device >= 0 && static_cast<std::size_t>(device) < kMaxDevices)
        current[device].store(pool, std::memory_order_relaxed);
}

CUmemoryPool current_mempool(std::int64_t device) noexcept
{
    return device >= 0 && static_cast<std::size_t>(device) < kMaxDevices
               ? current[device].load(std::memory_order_relaxed)
               : nullptr;
}

} // namespace vramscope::hooks
