// interpose/doors/program_interface.cpp — what interpose/vramscope.h declares for programs.
//
// Any thread, at any time: before the log is open, while the process exits, without CUDA, inside a
// signal handler. What cannot be done then is not done.
#include <algorithm>
#include <cerrno>

#include "interpose/hooks/bypassed.hpp"
#include "interpose/hooks/call.hpp"
#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/device_memory.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"
#include "interpose/serve/pools/context_pools.hpp"
#include "interpose/serve/pools/shortage.hpp"
#include "interpose/vramscope.h"
#include "tracker/lifecycle/ranges.hpp"
#include "tracker/lifecycle/tests.hpp"
#include "tracker/log/nesting.hpp"

#define VRAMSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace vramscope;

namespace {

// Runs `work` as a hook runs its own part: this thread is not inside a hook.
template <class Work>
bool as_in_a_hook(Work work) noexcept
{
    log::Thread& thread = log::this_thread;
    if (!log::process->generation ||
        !log::is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return false;
    const int program_errno = errno;
    thread.inside = log::Inside::recorder;
    const bool done = log::ready(thread, hooks::kOpening) && work(thread);
    thread.inside = log::Inside::program;
    errno = program_errno;
    return done;
}

template <class Work>
bool with_pools(Work work) noexcept
{
    return hooks::pooling() && as_in_a_hook(work);
}

// Calls `visit` with each pool of this device; all: -1. False: there is none.
template <class Visit>
bool with_pools_of(int device, Visit visit) noexcept
{
    bool found = false;
    with_pools([&](log::Thread&) {
        for (hooks::ContextPool& one : hooks::ContextPools()) {
            if (device >= 0 && one.device() != device)
                continue;
            found = true;
            one.with(visit);
        }
        return true;
    });
    return found;
}

// The device of this thread's current context; -1: it has none, or the process is exiting.
std::int64_t current_device(log::Thread& thread) noexcept
{
    const hooks::Driver* driver = hooks::Driver::find();
    return driver && !hooks::exiting() ? hooks::place_in(thread, *driver, nullptr).device : -1;
}

format::TestState state_of(int result) noexcept
{
    switch (result) {
    case VRAMSCOPE_TEST_PASSED:
        return format::TestState::passed;
    case VRAMSCOPE_TEST_FAILED:
        return format::TestState::failed;
    case VRAMSCOPE_TEST_SKIPPED:
        return format::TestState::skipped;
    default:
        return format::TestState::ended;
    }
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

VRAMSCOPE_EXPORT void vramscope_begin_test(const char* name)
{
    log::tell_of_test(name ? name : "", format::TestState::began);
}
VRAMSCOPE_EXPORT void vramscope_end_test(const char* name, int result)
{
    log::tell_of_test(name ? name : "", state_of(result));
}

VRAMSCOPE_EXPORT void vramscope_bypassed(const char* framework)
{
    hooks::remember_bypassed(framework ? framework : "");
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
    const bool found = with_pools_of(device, [&sum](auto& pool) { add(sum, pool.stats()); });
    std::memcpy(stats, &sum, std::min(size, sizeof sum));
    return found ? 0 : -1;
}

VRAMSCOPE_EXPORT int vramscope_pool_take_peak(int device, vramscope_memory_stats* stats,
                                              std::size_t size)
{
    vramscope_memory_stats sum{};
    const bool found = with_pools_of(device, [&sum](auto& pool) {
        add(sum, pool.stats());
        pool.reset_peaks();
    });
    std::memcpy(stats, &sum, std::min(size, sizeof sum));
    return found ? 0 : -1;
}

VRAMSCOPE_EXPORT const char* vramscope_preload_version(void)
{
    return VRAMSCOPE_VERSION;
}

VRAMSCOPE_EXPORT int vramscope_current_device(void)
{
    std::int64_t device = -1;
    as_in_a_hook([&](log::Thread& thread) {
        device = current_device(thread);
        return true;
    });
    return static_cast<int>(device);
}

VRAMSCOPE_EXPORT std::int64_t vramscope_device_headroom(void)
{
    std::int64_t bytes = -1;
    as_in_a_hook([&](log::Thread& thread) {
        std::uint64_t free = 0;
        std::uint64_t total = 0;
        if (hooks::passing_through() || !hooks::ask_driver(free, total))
            return false;
        hooks::apply_limit(free, total);
        free += hooks::pooling() ? hooks::releasable_bytes(current_device(thread)) : 0;
        bytes = static_cast<std::int64_t>(std::min(free, total));
        return true;
    });
    return bytes;
}
