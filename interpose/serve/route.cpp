// interpose/serve/route.cpp — each allocation and each free on its way.
#include "interpose/serve/route.hpp"

#include <limits>
#include <sys/mman.h>

#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"
#include "interpose/serve/events.hpp"
#include "interpose/serve/pools/damage.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

constexpr int kMostWaits = 8; // for the lock of a pool, before its thread uses another

// Which of a context's pools this thread uses. One that often finds the lock taken moves, once, to
// the next, when it next allocates: what it frees goes to the pool that it is of.
unsigned number_of_pool() noexcept
{
    static constinit std::atomic<unsigned> moved{0};
    static thread_local constinit unsigned number = 0;
    if (pool_lock_waits >= kMostWaits) {
        number = (moved.fetch_add(1) + 1) % most_pools_of_context();
        pool_lock_waits = std::numeric_limits<int>::min();
    }
    return number;
}

[[gnu::noinline, gnu::cold]] ContextPool* look_up_pool(Call& call) noexcept
{
    if (!pooling() || passing_through())
        return nullptr;
    const format::Place place = place_now(call);
    ContextPool* const pool = place.context ? pool_of(place, number_of_pool()) : nullptr;
    remembered_context.pool = pool;
    return pool;
}

// The pool for what the program allocates or frees now. Null: the driver answers. Where a pool is
// remembered, the driver is known.
[[gnu::always_inline]] inline ContextPool* pool_of_thread(Call& call) noexcept
{
    const RememberedContext& remembered = remembered_context;
    CUcontext handle = nullptr;
    if (!remembered.pool || passing_through() || the_driver.context(&handle) != CUDA_SUCCESS ||
        remembered.handle != handle ||
        remembered.changes != context_changes.load(std::memory_order_acquire) ||
        remembered.generation != log::process->generation) [[unlikely]]
        return look_up_pool(call);
    return remembered.pool;
}

// Which pool has the block that the program frees, and what is to be done with it.
struct Disposition {
    pool::Freed what = pool::Freed::foreign;
    ContextPool* owner = nullptr; // the one that was asked last
    pool::Detached block;         // what a block was that leaves, and when it left
    std::uint64_t ticks = 0;
};

// With red zones a pool is asked for an address before the program's. Where it has something free
// there, and ends before what the program means, that is a neighbour's memory.
[[gnu::noinline, gnu::cold]] bool is_neighbours(ContextPool& owner, std::uint64_t block) noexcept
{
    const std::uint64_t address = block + red_zone_bytes();
    return address != block && owner.with([&](auto& pool) {
        return pool.find_inside(address).state;
    }) == pool::State::foreign;
}

pool::Freed judged(ContextPool& owner, pool::Freed what, std::uint64_t block) noexcept
{
    return what == pool::Freed::dead && is_neighbours(owner, block) ? pool::Freed::foreign : what;
}

// What is left to do for its pool after a free.
void after_free(Call& call, Disposition& found) noexcept
{
    if (found.what == pool::Freed::surplus)
        call.to_settle = found.owner;
    else if (found.what == pool::Freed::leaves)
        found.ticks = log::now();
}

// The pool keeps its block, if it may.
Disposition keep(Call& call, ContextPool& owner, std::uint64_t address) noexcept
{
    Disposition found;
    found.owner = &owner;
    if (owner.careful())
        poison_block(call, owner, address + red_zone_bytes());
    found.what = judged(
        owner, owner.with([&](auto& pool) { return pool.free(address, &found.block); }), address);
    after_free(call, found);
    return found;
}

// Another pool of the context keeps its block.
Disposition keep_in_others(Call& call, ContextPool& here, std::uint64_t address) noexcept
{
    Disposition found;
    for (ContextPool& one : ContextPools()) {
        if (&one == &here || one.place().context != here.place().context)
            continue;
        found = keep(call, one, address);
        if (found.what != pool::Freed::foreign)
            break;
    }
    return found;
}

// Whichever pool has the block lets go of it, if it is all that the driver allocated.
Disposition detach(std::uint64_t address) noexcept
{
    Disposition found;
    found.ticks = log::now();
    for (ContextPool& one : ContextPools()) {
        found.what = judged(
            one, one.with([&](auto& pool) { return pool.detach(address, found.block); }), address);
        if (found.what != pool::Freed::foreign) {
            found.owner = &one;
            break;
        }
    }
    return found;
}

// The driver frees it. Where it refuses, the pool has the block again.
CUresult let_go(Call& call, const Disposition& found, CUresult result) noexcept
{
    if (result != CUDA_SUCCESS)
        found.owner->with([&](auto& pool) { pool.reattach(found.block); });
    else if (call.ready())
        log::write(call.thread, {found.ticks},
                   format::SegmentGone{found.block.address, format::SegmentEnd::freed});
    return result;
}

// Where a red zone begins the driver may know an address that the program never got.
bool is_in_red_zone(std::uint64_t address) noexcept
{
    return red_zone_bytes() && find_block(address).pool;
}

CUresult carry_out(Call& call, const Disposition& found, std::uint64_t address,
                   DriverFree driver_free) noexcept
{
    switch (found.what) {
    case pool::Freed::cached:
    case pool::Freed::surplus:
        return CUDA_SUCCESS;
    case pool::Freed::dead:
        return driver_free(dead_address());
    case pool::Freed::leaves:
        return let_go(call, found, driver_free(found.block.address));
    case pool::Freed::foreign:
    case pool::Freed::part:
        break;
    }
    return driver_free(is_in_red_zone(address) ? dead_address() : address);
}

// Where each free waits for the device: false if that failed.
[[gnu::noinline, gnu::cold]] bool may_keep(Call& call, ContextPool& here,
                                           std::uint64_t address) noexcept
{
    if (!log::settings().pool_strict)
        return true;
    if (synchronise_all(call.thread) != CUDA_SUCCESS)
        return false;
    if (checks_memory()) {
        check_red_zones(call, here, address);
        poison_block(call, here, address);
    }
    return true;
}

// Of a free that is not simply for the pool of this thread: whoever has the block, before it is
// known whether that keeps it.
[[gnu::noinline, gnu::cold]] void check_elsewhere(Call& call, std::uint64_t address) noexcept
{
    ContextPool* const owner = find_block(address).pool;
    if (owner && !passing_through() && synchronise_all(call.thread) == CUDA_SUCCESS)
        check_red_zones(call, *owner, address);
}

// Frees a block that the pool did not simply keep: another pool has it, or none, or it must leave.
[[gnu::noinline, gnu::cold]] CUresult free_elsewhere(Call& call, Disposition found,
                                                     std::uint64_t address,
                                                     DriverFree driver_free) noexcept
{
    after_free(call, found);
    const std::uint64_t block = address - red_zone_bytes();
    found.what = judged(*found.owner, found.what, block);
    if (found.what == pool::Freed::foreign) {
        if (checks_memory())
            check_elsewhere(call, address);
        found = keep_in_others(call, *found.owner, block);
        if (found.what == pool::Freed::foreign)
            found = detach(block);
        if (found.what == pool::Freed::part) // another context's: the driver cannot free it
            found = keep(call, *found.owner, block);
    }
    return carry_out(call, found, address, driver_free);
}

// The device is waited for before the free and behind it: for the latter nothing is queued any
// more, so that the block is handed out again next, as one of the driver's would be.
[[gnu::noinline, gnu::cold]] CUresult free_carefully(Call& call, ContextPool* here,
                                                     std::uint64_t address,
                                                     DriverFree driver_free) noexcept
{
    if (!here || !may_keep(call, *here, address))
        return pooling() ? free_past_pool(call, address, false, driver_free) : driver_free(address);
    pool::Detached block;
    const pool::Freed what =
        here->with([&](auto& pool) { return pool.free(address - here->margin(), &block); });
    if (what != pool::Freed::cached)
        return free_elsewhere(call, {what, here, block, 0}, address, driver_free);
    (void)synchronise_all(call.thread);
    return CUDA_SUCCESS;
}

// A size that no device has stays one.
std::uint64_t with_red_zones(const ContextPool& here, std::uint64_t bytes) noexcept
{
    const std::uint64_t zones = 2 * here.margin();
    return bytes > UINT64_MAX - zones ? bytes : bytes + zones;
}

// What is to be told of an allocation for which the pool called the driver.
[[gnu::noinline, gnu::cold]] Served from_driver(Call& call, ContextPool& here,
                                                const pool::Allocation& block,
                                                std::uint64_t bytes) noexcept
{
    if (block.retried)
        log::write(call.thread, {log::now(), call.api()},
                   format::Retried{here.device(), bytes, static_cast<std::uint64_t>(block.status)});
    if (block.status == CUDA_SUCCESS && !block.pooled) // no room in the pool's tables
        log::write(call.thread, {log::now()},
                   format::SegmentGone{block.address, format::SegmentEnd::freed});
    return {.pool = &here,
            .result = static_cast<CUresult>(block.status),
            .pooled = block.pooled,
            .address = block.address};
}

} // namespace

Served allocate(Call& call, std::uint64_t bytes) noexcept
{
    ContextPool* const here =
        pool_lock_waits < kMostWaits ? pool_of_thread(call) : look_up_pool(call);
    if (!here) [[unlikely]]
        return {};
    const std::uint64_t wanted = here->careful() ? with_red_zones(*here, bytes) : bytes;
    // It stays in registers: a block whose address others get goes through memory.
    pool::Allocation block = here->with([&](auto& pool) { return pool.reuse(wanted); });
    if (!block.reused) [[unlikely]] {
        const pool::Allocation anew =
            here->with([&](auto& pool) { return pool.allocate_anew(wanted); });
        if (!anew.reused || anew.retried)
            if (const Served driver = from_driver(call, *here, anew, bytes); !driver.pooled)
                return driver;
        block = anew;
    }
    if (here->careful()) [[unlikely]]
        prepare_block(call, pool::Allocation(block), bytes);
    return {.pool = here,
            .pooled = true,
            .address = block.address + here->margin(),
            .slack = block.block_bytes - bytes};
}

void took_from_driver(Call& call, std::uint64_t address, std::uint64_t bytes) noexcept
{
    const format::Place place = place_now(call);
    const bool poolable = place.context && !exiting() && !red_zone_bytes();
    ContextPool* pool = poolable ? pool_of(place, 0) : nullptr;
    if (!pool || !pool->with([&](auto& one) { return one.adopt(address, bytes); })) {
        record_allocation(call, address, bytes, place);
        return;
    }
    log::write(call.thread, {log::now()},
               format::Segment{address, bytes, place.context, place.device});
    record_pooled(call, address, bytes, place, 0);
}

CUresult free_block(Call& call, std::uint64_t address, DriverFree driver_free) noexcept
{
    ContextPool* const here = pool_of_thread(call);
    if (!here || here->careful()) [[unlikely]]
        return free_carefully(call, here, address, driver_free);
    pool::Detached block;
    const pool::Freed what =
        here->with([&](auto& pool) { return pool.free(address - here->margin(), &block); });
    return what == pool::Freed::cached
               ? CUDA_SUCCESS
               : free_elsewhere(call, {what, here, block, 0}, address, driver_free);
}

void settle(ContextPool& owner) noexcept
{
    if (!passing_through())
        owner.with([](auto& pool) { pool.settle(); });
}

CUresult free_past_pool(Call& call, std::uint64_t address, bool captured,
                        DriverFree driver_free) noexcept
{
    const std::uint64_t block = address - red_zone_bytes();
    if (checks_memory() && !captured)
        check_elsewhere(call, address);
    Disposition found = detach(block);
    if (found.what == pool::Freed::part) {
        // The driver cannot free a part of its memory. It is shown an address that it cannot know:
        // if that is all that it says, the part is kept, and waits for all that is queued in its
        // context, this stream too. A graph frees only what a graph allocated: to it any other
        // address is like this one.
        const CUresult result = driver_free(dead_address());
        if (captured || result != CUDA_ERROR_INVALID_VALUE)
            return result;
        found = keep(call, *found.owner, block);
    }
    return carry_out(call, found, address, driver_free);
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
    for (ContextPool& one : ContextPools()) {
        const auto block = one.with([&](auto& pool) { return pool.find_inside(pointer); });
        if (block.state == pool::State::foreign)
            continue;
        return {.state = block.state,
                .pool = &one,
                .whole = block.bytes == block.segment_bytes,
                .exact = block.requested == block.segment_bytes && red_zone_bytes() == 0,
                .address = block.address + red_zone_bytes(),
                .bytes = block.requested - 2 * red_zone_bytes(),
                .serial = one.place().context << 40 | block.serial};
    }
    return {};
}

void pin(const Found& found) noexcept
{
    if (found.pool)
        found.pool->with([&](auto& pool) { pool.pin(found.address - red_zone_bytes()); });
}

} // namespace vramscope::hooks
