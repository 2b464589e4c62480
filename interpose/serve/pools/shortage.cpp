// interpose/serve/pools/shortage.cpp — over the pools of one device, or of all.
#include "interpose/serve/pools/shortage.hpp"

#include <algorithm>

#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/device_memory.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"
#include "interpose/serve/pools/context_pools.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

constexpr std::int64_t kEveryDevice = -2; // -1 is one that is not known

bool is_of(const ContextPool& pool, std::int64_t device) noexcept
{
    return device == kEveryDevice || pool.device() == device;
}

// Before cuInit, which may have failed, no log begins. The runtime tries a stream-ordered
// allocation before there is a context, makes one, and tries again.
bool is_of_start_or_end(Hook hook, CUresult result) noexcept
{
    return result == CUDA_ERROR_NOT_INITIALIZED || result == CUDA_ERROR_DEINITIALIZED ||
           (result == CUDA_ERROR_INVALID_CONTEXT && info(hook).memory == format::Memory::async);
}

// The numbers of the moment. Physical memory needs no context, without which the driver tells
// nothing of its own.
void record_out_of_memory(Call& call, std::uint64_t requested) noexcept
{
    std::size_t free = 0;
    std::size_t total = 0;
    if (passing_through())
        return;
    if (!ask_driver(free, total))
        free = total = 0;
    format::OutOfMemory state;
    state.device = place_now(call).device;
    state.requested = requested;
    state.free = free;
    state.total = total;
    apply_limit(state.free, state.total);
    for (ContextPool& one : ContextPools()) {
        if (one.device() != state.device)
            continue;
        one.with([&](auto& pool) {
            const pool::Stats stats = pool.stats();
            state.allocated += stats.allocated_bytes.all.current;
            state.reserved += stats.reserved_bytes.all.current;
            state.largest_gap = std::max(state.largest_gap, pool.largest_gap());
        });
    }
    log::write(call.thread, {log::now(), call.api()}, state);
    tell_mempools(call.thread, state.device);
}

} // namespace

std::uint64_t give_back(std::int64_t device, const DriverUpstream* except) noexcept
{
    std::uint64_t bytes = 0;
    for (ContextPool& one : ContextPools())
        if (is_of(one, device) && &one.upstream() != except)
            bytes += one.with([](auto& pool) { return pool.trim(pool::Release::pressure); });
    return bytes;
}

std::uint64_t releasable_bytes(std::int64_t device) noexcept
{
    std::uint64_t bytes = 0;
    for (ContextPool& one : ContextPools())
        if (is_of(one, device))
            bytes += one.with([](auto& pool) { return pool.releasable_bytes(); });
    return bytes;
}

pool::Traffic traffic_of(std::int64_t device) noexcept
{
    pool::Traffic all{direct_allocations.load(), synchronisations_held()};
    for (ContextPool& one : ContextPools())
        if (is_of(one, device))
            all += one.with([](auto& pool) { return pool.traffic(); });
    return all;
}

void let_others_go_on(int tries) noexcept
{
    constexpr long kFirstNs = 50'000;
    sleep_ns(kFirstNs << tries);
}

bool make_room_for(Call& call, int tries) noexcept
{
    static thread_local constinit pool::Traffic seen; // during this call
    if (!pooling() || !takes_device_memory(call.hook) || passing_through() || !call.ready())
        return false;
    // Its stream, its pool or a property may have named another device than the current one.
    const pool::Traffic now = traffic_of(kEveryDevice);
    if (tries > 0) {
        if (!pool::was_disturbed(seen, now) || tries == pool::kMostTries)
            return false;
        let_others_go_on(tries);
    }
    seen = now;
    if (releasable_bytes(kEveryDevice) && synchronise_all(call.thread) == CUDA_SUCCESS)
        give_back(kEveryDevice, nullptr);
    return now.changes != 0 || now.moving != 0; // others may have been at work at the first try
}

void record_refusal(Call& call, CUresult result, std::uint64_t bytes) noexcept
{
    if (call.ready())
        log::write_with_stack(call.thread, call.site, call.api(), format::Failed{result, 0, bytes});
}

void record_shortage(Call& call, CUresult result, std::uint64_t bytes) noexcept
{
    const bool short_of_memory = result == CUDA_ERROR_OUT_OF_MEMORY;
    if ((!short_of_memory && (bytes == 0 || is_of_start_or_end(call.hook, result))) ||
        !call.ready())
        return;
    record_refusal(call, result, bytes);
    if (short_of_memory && takes_device_memory(call.hook))
        record_out_of_memory(call, bytes);
}

} // namespace vramscope::hooks
