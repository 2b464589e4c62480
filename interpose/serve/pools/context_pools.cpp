// interpose/serve/pools/context_pools.cpp — a slot for each context that has a pool.
#include "interpose/serve/pools/context_pools.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"
#include "tracker/capture/arena.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/environment/settings.hpp"

namespace vramscope::hooks {
namespace {

constexpr std::size_t kMaxPools = 512;
constexpr unsigned kPoolsOfContext = 8;

struct Slot {
    std::atomic<std::uint64_t> context; // its id; 0: the slot is free
    unsigned number;                    // tells the pools of one context apart
    ContextPool* pool;                  // stays mapped when the slot is free
};

constinit capture::Lock lock; // while a slot is filled or emptied
constinit Slot slots[kMaxPools]{};
constinit std::atomic<std::size_t> used_slots{0};
constinit std::uint64_t executables = 0; // graphs that can be launched, under the lock
// The log that the pools belong to: the child of a fork starts without any.
constinit std::atomic<std::uint32_t> generation{0};

pool::Options options_for(std::int64_t device) noexcept
{
    static_assert(log::kNoBytes == pool::kNoLimit && log::kPeakBytes == pool::kUpToPeak);
    const log::Settings& settings = log::settings();
    pool::Options options{};
    options.max_split_bytes = settings.max_split_bytes;
    options.roundup_power2_divisions = settings.roundup_power2_divisions;
    options.garbage_collection_threshold = settings.garbage_collection_threshold;
    options.max_cached_bytes = settings.max_cached_bytes;
    options.wait_from_bytes = settings.wait_from_bytes;
    const bool bounded = settings.memory_fraction > 0 || options.garbage_collection_threshold > 0;
    const Driver* driver = bounded ? Driver::find() : nullptr;
    std::size_t total = 0;
    if (driver && driver->device_bytes && device >= 0 &&
        driver->device_bytes(&total, static_cast<CUdevice>(device)) == CUDA_SUCCESS) {
        const double fraction = settings.memory_fraction > 0 ? settings.memory_fraction : 1;
        options.allowed_bytes =
            static_cast<std::uint64_t>(fraction * static_cast<double>(limited_total(total)));
    }
    return options;
}

// The caller holds the lock. What a fork left in the slots is the parent's: its memory is not given
// back, and not looked at.
void start_afresh_in_new_log() noexcept
{
    const std::uint32_t now = log::process->generation;
    if (generation.load(std::memory_order_relaxed) == now)
        return;
    for (Slot& slot : slots) {
        slot.context.store(0, std::memory_order_relaxed);
        slot.pool = nullptr;
    }
    used_slots.store(0, std::memory_order_relaxed);
    executables = 0;
    generation.store(now, std::memory_order_release);
}

// The caller holds the lock.
void pin_all_live() noexcept
{
    for (ContextPool& one : ContextPools())
        one.with([](auto& pool) { pool.pin_live(); });
}

// The context is gone, with its memory.
void forget_pools_of(std::uint64_t context) noexcept
{
    const std::lock_guard guard(lock);
    for (Slot& slot : slots)
        if (slot.context.load(std::memory_order_relaxed) == context) {
            slot.pool->with([](auto& pool) { pool.forget_all(); });
            slot.context.store(0, std::memory_order_release);
        }
}

} // namespace

unsigned most_pools_of_context() noexcept
{
    const log::Settings& settings = log::settings();
    const bool bounded = settings.memory_fraction > 0 ||
                         settings.garbage_collection_threshold > 0 ||
                         settings.max_cached_bytes < log::kPeakBytes;
    return bounded || settings.pool_strict ? 1 : kPoolsOfContext;
}

ContextPool* pool_of(const format::Place& place, unsigned number) noexcept
{
    const Driver* driver = Driver::find();
    CUcontext handle = nullptr;
    if (!driver || !driver->context || driver->context(&handle) != CUDA_SUCCESS || !handle)
        return nullptr;
    const pool::Options options = options_for(place.device);
    const std::lock_guard guard(lock);
    start_afresh_in_new_log();
    Slot *free = nullptr, *first = nullptr;
    for (Slot& slot : slots) {
        const std::uint64_t context = slot.context.load(std::memory_order_relaxed);
        if (context == place.context && slot.number == number)
            return slot.pool;
        if (context == place.context && slot.number == 0)
            first = &slot;
        if (!context && !free)
            free = &slot;
    }
    if (number != 0 && !first) // it is the thread's number, and this context is new to it
        number = 0;
    if (!free)
        return first ? first->pool : nullptr;
    void* room = free->pool ? free->pool : capture::map_pages(sizeof(ContextPool));
    if (!room)
        return nullptr;
    free->pool = new (room) ContextPool(log::settings(), handle, place, epochs(), options);
    free->number = number;
    if (number != 0)
        free->pool->share_with(*first->pool, number);
    used_slots.store(std::max(used_slots.load(std::memory_order_relaxed),
                              static_cast<std::size_t>(free - slots) + 1),
                     std::memory_order_relaxed);
    forget_pools.store(&forget_pools_of, std::memory_order_release);
    free->context.store(place.context, std::memory_order_release);
    return free->pool;
}

ContextPool* next_pool(std::size_t& at) noexcept
{
    if (generation.load(std::memory_order_acquire) != log::process->generation)
        return nullptr;
    const std::size_t end = used_slots.load(std::memory_order_relaxed);
    while (at < end)
        if (const Slot& slot = slots[at++]; slot.context.load(std::memory_order_acquire))
            return slot.pool;
    return nullptr;
}

void graph_may_hold_memory() noexcept
{
    const std::lock_guard guard(lock);
    pin_all_live();
}

void executable_made() noexcept
{
    const std::lock_guard guard(lock);
    ++executables;
    pin_all_live();
}

void executable_gone() noexcept
{
    const std::lock_guard guard(lock);
    if (!executables || --executables != 0)
        return;
    for (ContextPool& one : ContextPools())
        one.with([](auto& pool) { pool.unpin_live(); });
}

void leave_pool_lock() noexcept
{
    if (!near_pool_lock || !near_pool_lock->is_ours())
        return;
    pools_given_up.store(true);                              // what it guards may be half changed
    context_changes.fetch_add(1, std::memory_order_release); // threads look for their pools again
    near_pool_lock->unlock();
}

} // namespace vramscope::hooks
