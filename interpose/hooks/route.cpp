// interpose/hooks/route.cpp — the pools of the process, by context.
#include "interpose/hooks/route.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "interpose/hooks/captures.hpp"
#include "interpose/hooks/damage.hpp"
#include "interpose/hooks/inside_driver.hpp"
#include "interpose/hooks/limits.hpp"
#include "interpose/hooks/synchronisation.hpp"
#include "tracker/capture/arena.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/log/pool_recorder.hpp"
#include "tracker/log/settings.hpp"

namespace vramscope::hooks {
namespace {

constexpr std::size_t kMaxPools = 256;

struct Slot {
    std::atomic<std::uint64_t> context; // its id; 0: the slot is free
    ContextPool* pool;                  // stays mapped when the slot is free
};

constinit capture::Lock lock; // while a slot is filled or emptied
constinit Slot slots[kMaxPools]{};
constinit std::atomic<std::size_t> used_slots{0};
constinit std::atomic<bool> given_up{false};
constinit std::uint64_t executables = 0; // graphs that can be launched, under the lock
// The log that the pools belong to: the child of a fork starts without any.
constinit std::atomic<std::uint32_t> generation{0};

struct Remembered {
    std::uint64_t context;
    ContextPool* pool;
};
thread_local constinit Remembered remembered{};

pool::Options options_for(std::int64_t device) noexcept
{
    const log::Settings& settings = log::settings();
    pool::Options options{};
    options.max_split_bytes = settings.max_split_bytes;
    options.roundup_power2_divisions = settings.roundup_power2_divisions;
    options.garbage_collection_threshold = settings.garbage_collection_threshold;
    options.max_cached_bytes = settings.max_cached_bytes;
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

// Under the lock. What a fork left behind is the parent's: its memory is not given back, and not
// looked at.
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

[[gnu::noinline, gnu::cold]] ContextPool* make_pool(const format::Place& place) noexcept
{
    const Driver* driver = Driver::find();
    CUcontext handle = nullptr;
    if (!driver || !driver->context || driver->context(&handle) != CUDA_SUCCESS || !handle)
        return nullptr;
    const pool::Options options = options_for(place.device);
    const std::lock_guard guard(lock);
    start_afresh_in_new_log();
    Slot* free = nullptr;
    for (Slot& slot : slots) {
        const std::uint64_t context = slot.context.load(std::memory_order_relaxed);
        if (context == place.context)
            return slot.pool;
        if (!context && !free)
            free = &slot;
    }
    if (!free)
        return nullptr;
    void* room = free->pool ? free->pool : capture::map_pages(sizeof(ContextPool));
    if (!room)
        return nullptr;
    free->pool = new (room) ContextPool(log::settings().pool_mode == log::PoolMode::split, handle,
                                        place, epochs(), options);
    used_slots.store(std::max(used_slots.load(std::memory_order_relaxed),
                              static_cast<std::size_t>(free - slots) + 1),
                     std::memory_order_relaxed);
    free->context.store(place.context, std::memory_order_release);
    return free->pool;
}

ContextPool* pool_of(const format::Place& place) noexcept
{
    if (remembered.context != place.context ||
        generation.load(std::memory_order_acquire) != log::process->generation) [[unlikely]]
        remembered = {place.context, make_pool(place)};
    return remembered.pool;
}

// Nothing is kept, and nothing is asked of the driver.
bool passing_through() noexcept
{
    return capturing() || exiting();
}

// The driver is to do it: whichever pool has the block lets go of it.
FreeRoute leave(std::uint64_t address, Leaving& leaving) noexcept
{
    FreeRoute route = FreeRoute::driver;
    leaving.ticks = log::now();
    each_pool([&](ContextPool& one) {
        if (route != FreeRoute::driver)
            return;
        one.with([&](auto& pool) {
            if (pool.detach(address, leaving.block)) {
                leaving.pool = &one;
                route = FreeRoute::leaves;
            } else if (const auto found = pool.find(address); found.state != pool::State::foreign) {
                leaving.pool = &one;
                route = found.state == pool::State::live ? FreeRoute::refused : FreeRoute::dead;
            }
        });
    });
    return route;
}

FreeRoute keep(ContextPool& here, std::uint64_t address, Leaving& leaving) noexcept
{
    switch (here.with([&](auto& pool) { return pool.free(address, &leaving.block); })) {
    case pool::Freed::surplus:
        if (!passing_through())
            here.with([](auto& pool) { pool.settle(); });
        return FreeRoute::kept;
    case pool::Freed::cached:
        return FreeRoute::kept;
    case pool::Freed::dead:
        return FreeRoute::dead;
    case pool::Freed::leaves:
        leaving.pool = &here;
        leaving.ticks = log::now();
        return FreeRoute::leaves;
    case pool::Freed::foreign:
        break;
    }
    return leave(address, leaving);
}

} // namespace

bool pooling() noexcept
{
    return log::settings().pool_mode != log::PoolMode::off && log::process->generation != 0 &&
           !given_up.load(std::memory_order_relaxed);
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

ContextPool* pool_here(Call& call) noexcept
{
    if (!call.ready() || passing_through())
        return nullptr;
    const format::Place place = place_now(call);
    return place.context ? pool_of(place) : nullptr;
}

Served allocate(Call& call, ContextPool& here, std::uint64_t bytes) noexcept
{
    const std::uint64_t margin = red_zone_bytes();
    const pool::Allocation block =
        here.with([&](auto& pool) { return pool.allocate(bytes + 2 * margin); });
    if (block.retried) [[unlikely]]
        log::record_retried(call.thread, call.api(), static_cast<int>(here.device()), bytes,
                            block.status);
    if (block.status != CUDA_SUCCESS) [[unlikely]]
        return {.result = static_cast<CUresult>(block.status)};
    if (!block.pooled) [[unlikely]] { // no room in the pool's tables: it is the driver's to free
        log::record_segment_gone(call.thread, log::now(), block.address, format::SegmentEnd::freed);
        return {.address = block.address};
    }
    if (checks_memory()) [[unlikely]]
        prepare_block(call, block, bytes);
    return {.address = block.address + margin, .pooled = true, .slack = block.block_bytes - bytes};
}

void took_from_driver(Call& call, std::uint64_t address, std::uint64_t bytes) noexcept
{
    const format::Place place = place_now(call);
    const bool poolable = pooling() && place.context && !exiting() && !red_zone_bytes();
    ContextPool* pool = poolable ? pool_of(place) : nullptr;
    if (!pool || !pool->with([&](auto& one) { return one.adopt(address, bytes); }))
        return record_alloc(call, address, bytes, place);
    log::record_segment(call.thread, address, bytes, place);
    record_pooled(call, address, bytes, place, 0);
}

FreeRoute route_free(Call& call, std::uint64_t address, Leaving& leaving) noexcept
{
    const std::uint64_t block = address - red_zone_bytes();
    ContextPool* here = pool_here(call);
    if (!here || (log::settings().pool_strict && synchronise_all(call.thread) != CUDA_SUCCESS)) {
        const FreeRoute route = leave(block, leaving);
        if (route != FreeRoute::refused)
            return route;
        // A part of a segment: the driver could not free it, but it would tell an error.
        if (!place_now(call).context)
            return FreeRoute::dead;
        return passing_through() ? FreeRoute::asked : keep(*leaving.pool, block, leaving);
    }
    if (checks_memory()) [[unlikely]]
        check_block(call, *here, address);
    const FreeRoute route = keep(*here, block, leaving);
    return route == FreeRoute::refused ? keep(*leaving.pool, block, leaving) : route;
}

FreeRoute keep_part(std::uint64_t address, Leaving& leaving) noexcept
{
    return keep(*leaving.pool, address - red_zone_bytes(), leaving);
}

FreeRoute route_free_async(std::uint64_t address, bool captured, Leaving& leaving) noexcept
{
    const std::uint64_t block = address - red_zone_bytes();
    const FreeRoute route = leave(block, leaving);
    if (route != FreeRoute::refused || captured)
        return route;
    // A part of a segment: it waits for all that is queued in its context, this stream too.
    return keep(*leaving.pool, block, leaving);
}

CUresult let_go(Call& call, const Leaving& leaving, CUresult result) noexcept
{
    if (result != CUDA_SUCCESS)
        leaving.pool->with([&](auto& pool) { pool.reattach(leaving.block); });
    else if (call.ready())
        log::record_segment_gone(call.thread, leaving.ticks, leaving.block.address,
                                 format::SegmentEnd::freed);
    return result;
}

std::uint64_t dead_address() noexcept
{
    static constinit std::atomic<void*> page{nullptr};
    if (void* known = page.load(std::memory_order_acquire))
        return reinterpret_cast<std::uintptr_t>(known);
    void* mapped =
        ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void* expected = nullptr;
    if (mapped == MAP_FAILED)
        return 8; // no memory is there either
    if (!page.compare_exchange_strong(expected, mapped)) {
        ::munmap(mapped, 4096);
        mapped = expected;
    }
    return reinterpret_cast<std::uintptr_t>(mapped);
}

Found find_block(std::uint64_t pointer) noexcept
{
    Found found;
    each_pool([&](ContextPool& one) {
        if (found.standing != Standing::foreign)
            return;
        const auto block = one.with([&](auto& pool) { return pool.find_inside(pointer); });
        if (block.state == pool::State::foreign)
            return;
        found.standing = block.state == pool::State::live ? Standing::live : Standing::dead;
        found.pool = &one;
        found.whole = block.bytes == block.segment_bytes;
        found.address = block.address + red_zone_bytes();
        found.bytes = block.requested - 2 * red_zone_bytes();
        found.serial = block.serial;
    });
    return found;
}

void pin(const Found& found) noexcept
{
    if (found.pool)
        found.pool->with([&](auto& pool) { pool.pin(found.address - red_zone_bytes()); });
}

void graph_may_hold_memory() noexcept
{
    const std::lock_guard guard(lock);
    each_pool([](ContextPool& one) { one.with([](auto& pool) { pool.pin_live(); }); });
}

void executable_made() noexcept
{
    const std::lock_guard guard(lock);
    ++executables;
    each_pool([](ContextPool& one) { one.with([](auto& pool) { pool.pin_live(); }); });
}

void executable_gone() noexcept
{
    const std::lock_guard guard(lock);
    if (executables && --executables == 0)
        each_pool([](ContextPool& one) { one.with([](auto& pool) { pool.unpin_live(); }); });
}

std::uint64_t give_back(std::int64_t device, const DriverUpstream* except) noexcept
{
    std::uint64_t bytes = 0;
    each_pool([&](ContextPool& one) {
        if (one.device() == device && &one.upstream() != except)
            bytes += one.with([](auto& pool) { return pool.trim(pool::Release::pressure); });
    });
    return bytes;
}

std::uint64_t releasable_bytes(std::int64_t device) noexcept
{
    std::uint64_t bytes = 0;
    each_pool([&](ContextPool& one) {
        if (one.device() == device)
            bytes += one.with([](auto& pool) { return pool.releasable_bytes(); });
    });
    return bytes;
}

bool takes_device_memory(Hook hook) noexcept
{
    switch (kApis[static_cast<std::size_t>(hook)].memory) {
    case format::Memory::none:
    case format::Memory::pinned:
    case format::Memory::registered:
    case format::Memory::reservation:
        return false;
    default:
        return kApis[static_cast<std::size_t>(hook)].effect != format::Effect::free;
    }
}

bool make_room_for(Call& call) noexcept
{
    if (!pooling() || !takes_device_memory(call.hook) || passing_through())
        return false;
    const std::int64_t device = place_now(call).device;
    if (!releasable_bytes(device) || synchronise_all(call.thread) != CUDA_SUCCESS)
        return false;
    return give_back(device, nullptr) != 0;
}

void record_out_of_memory(Call& call, std::uint64_t requested) noexcept
{
    const Driver* driver = Driver::find();
    if (passing_through() || !driver || !driver->memory_info)
        return;
    std::size_t free = 0;
    std::size_t total = 0;
    if (in_driver(call.thread, [&] { return driver->memory_info(&free, &total); }) != CUDA_SUCCESS)
        return;
    log::MemoryState state;
    state.device = static_cast<int>(place_now(call).device);
    state.requested = requested;
    state.free = free;
    state.total = total;
    apply_limit(state.free, state.total);
    each_pool([&](ContextPool& one) {
        if (one.device() != state.device)
            return;
        one.with([&](auto& pool) {
            const pool::Stats stats = pool.stats();
            state.allocated += stats.allocated_bytes.all.current;
            state.reserved += stats.reserved_bytes.all.current;
            state.largest_gap = std::max(state.largest_gap, pool.largest_gap());
        });
    });
    log::record_out_of_memory(call.thread, call.api(), state);
}

void pool_context_gone(std::uint64_t id) noexcept
{
    const std::lock_guard guard(lock);
    for (Slot& slot : slots)
        if (slot.context.load(std::memory_order_relaxed) == id) {
            slot.pool->with([](auto& pool) { pool.forget_all(); });
            slot.context.store(0, std::memory_order_release);
        }
}

void give_up_pooling() noexcept
{
    given_up.store(true);
    held_pool_lock->unlock(); // others wait for it
}

} // namespace vramscope::hooks
