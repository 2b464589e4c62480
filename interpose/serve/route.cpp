// interpose/serve/route.cpp — each allocation and each free on its way.
#include "interpose/serve/route.hpp"

#include <sys/mman.h>

#include "interpose/serve/captures.hpp"
#include "interpose/serve/damage.hpp"
#include "interpose/serve/recording.hpp"
#include "interpose/serve/synchronisation.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

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
        log::write(call.thread, {log::now(), call.api()},
                   format::Retried{here.device(), bytes, static_cast<std::uint64_t>(block.status)});
    if (block.status != CUDA_SUCCESS) [[unlikely]]
        return {.result = static_cast<CUresult>(block.status)};
    if (!block.pooled) [[unlikely]] { // no room in the pool's tables: it is the driver's to free
        log::write(call.thread, {log::now()},
                   format::SegmentGone{block.address, format::SegmentEnd::freed});
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
        return record_allocation(call, address, bytes, place);
    log::write(call.thread, {log::now()},
               format::Segment{address, bytes, place.context, place.device});
    record_pooled(call, address, bytes, place, 0);
}

FreeRoute route_free(Call& call, std::uint64_t address, Leaving& leaving) noexcept
{
    const std::uint64_t block = address - red_zone_bytes();
    ContextPool* here = pool_here(call);
    if (!here || (log::settings().pool_strict && synchronise_all(call.thread) != CUDA_SUCCESS)) {
        const FreeRoute route = leave(block, leaving);
        return route == FreeRoute::refused ? FreeRoute::asked : route;
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
    if (route != FreeRoute::refused)
        return route;
    // A part of a segment: it waits for all that is queued in its context, this stream too. A graph
    // frees only what a graph allocated: any other address is the same to it.
    return captured ? FreeRoute::dead : FreeRoute::asked;
}

CUresult let_go(Call& call, const Leaving& leaving, CUresult result) noexcept
{
    if (result != CUDA_SUCCESS)
        leaving.pool->with([&](auto& pool) { pool.reattach(leaving.block); });
    else if (call.ready())
        log::write(call.thread, {leaving.ticks},
                   format::SegmentGone{leaving.block.address, format::SegmentEnd::freed});
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
        found.exact = block.requested == block.segment_bytes && red_zone_bytes() == 0;
        found.address = block.address + red_zone_bytes();
        found.bytes = block.requested - 2 * red_zone_bytes();
        found.serial = one.place().context << 40 | block.serial;
    });
    return found;
}

void pin(const Found& found) noexcept
{
    if (found.pool)
        found.pool->with([&](auto& pool) { pool.pin(found.address - red_zone_bytes()); });
}

} // namespace vramscope::hooks
