// interpose/doors/program_interface.cpp — what interpose/vramscope.h declares for programs.
//
// Any thread, at any time: before the log is open, while the process exits, without CUDA, inside a
// signal handler. What cannot be done then is not done.
#include <algorithm>
#include <cerrno>

#include "interpose/hooks/call.hpp"
#include "interpose/serve/captures.hpp"
#include "interpose/serve/context_pools.hpp"
#include "interpose/serve/device_memory.hpp"
#include "interpose/serve/synchronisation.hpp"
#include "interpose/vramscope.h"
#include "tracker/lifecycle/ranges.hpp"
#include "tracker/log/nesting.hpp"

#define VRAMSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace vramscope;

namespace {

// Runs `work` as a hook runs its own part: there is a pool, and this thread is not inside a hook.
template <class Work>
bool with_pools(Work work) noexcept
{
    log::Thread& thread = log::this_thread;
    if (!hooks::pooling() ||
        !log::is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return false;
    const int program_errno = errno;
    thread.inside = log::Inside::recorder;
    const bool done = log::ready(thread, hooks::kOpening) && work(thread);
    thread.inside = log::Inside::program;
    errno = program_errno;
    return done;
}

void add(vramscope_stat& sum, const pool::StatTypes& types) noexcept
{
    const pool::Stat& stat = types.all;
    sum.current += stat.current;
    sum.peak += stat.peak;
    sum.allocated += stat.allocated;
    sum.freed += stat.freed;
}

void add(vramscope_memory_stats& sum, const pool::Stats& stats) noexcept
{
    add(sum.allocated_bytes, stats.allocated_bytes);
    add(sum.requested_bytes, stats.requested_bytes);
    add(sum.active_bytes, stats.active_bytes);
    add(sum.reserved_bytes, stats.reserved_bytes);
    add(sum.inactive_split_bytes, stats.inactive_split_bytes);
    add(sum.allocation, stats.allocation);
    add(sum.active, stats.active);
    add(sum.segment, stats.segment);
    add(sum.inactive_split, stats.inactive_split);
    sum.num_alloc_retries += stats.num_alloc_retries;
    sum.num_ooms += stats.num_ooms;
    sum.num_device_alloc += stats.num_device_alloc;
    sum.num_device_free += stats.num_device_free;
}

} // namespace

VRAMSCOPE_EXPORT void vramscope_push(const char* name)
{
    log::push_range(name ? name : "");
}
VRAMSCOPE_EXPORT void vramscope_pop(void)
{
    log::pop_range();
}
VRAMSCOPE_EXPORT void vramscope_mark(const char* name)
{
    log::mark(name ? name : "");
    hooks::moment_named();
}

VRAMSCOPE_EXPORT std::int64_t vramscope_pool_empty_cache(void)
{
    std::uint64_t bytes = 0;
    const bool done = with_pools([&](log::Thread& thread) {
        if (hooks::passing_through())
            return false;
        hooks::synchronise_all(thread);
        for (hooks::ContextPool& one : hooks::ContextPools())
            bytes += one.with([](auto& pool) { return pool.trim(pool::Release::asked); });
        return true;
    });
    return done ? static_cast<std::int64_t>(bytes) : -1;
}

VRAMSCOPE_EXPORT void vramscope_pool_reset_peak(void)
{
    with_pools([](log::Thread&) {
        for (hooks::ContextPool& one : hooks::ContextPools())
            one.with([](auto& pool) { pool.reset_peaks(); });
        return true;
    });
}

VRAMSCOPE_EXPORT int vramscope_pool_stats(int device, vramscope_memory_stats* stats,
                                          std::size_t size)
{
    vramscope_memory_stats sum{};
    bool found = false;
    with_pools([&](log::Thread&) {
        for (hooks::ContextPool& one : hooks::ContextPools()) {
            if (device >= 0 && one.device() != device)
                continue;
            found = true;
            add(sum, one.with([](auto& pool) { return pool.stats(); }));
        }
        return true;
    });
    std::memcpy(stats, &sum, std::min(size, sizeof sum));
    return found ? 0 : -1;
}
