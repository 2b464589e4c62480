// interpose/actions/intercept.hpp — the one place where the order of a hooked call is decided.
//
// A free takes its time before the driver's call, an allocation after it; a record is written when
// the call has succeeded; a call from inside another passes through if it is the driver's own, and
// is recorded if it is a signal handler's (tracker/log/nesting.hpp). Where memory is short, what
// the pool has cached goes back and the call is made once more. No lock of ours is held across the
// driver's call, and errno is the driver's. Budget without recording: 15 ns.
#pragma once

#include <atomic>
#include <cerrno>
#include <utility>

#include "interpose/actions/action.hpp"
#include "interpose/actions/streams.hpp"
#include "interpose/doors/lookup.hpp"
#include "interpose/serve/contexts/contexts.hpp"
#include "tracker/log/nesting.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {

[[gnu::noinline, gnu::cold]] inline bool enter_nested(log::Thread& thread,
                                                      const log::CallSite& site)
{
    const Driver* driver = Driver::find();
    const bool enters = log::enter_nested(
        thread, site,
        driver && driver->contains(reinterpret_cast<const void*>(site.return_address)));
    if (enters && thread.inside == log::Inside::program)
        leave_pool_lock(); // the call that took the lock may have been left by a jump
    return enters;
}

[[gnu::noinline, gnu::cold]] inline void record_retry(Call& call, CUresult result)
{
    call.ended = 0; // the records of what it took come after that of the second try
    // No more than the device is asked for: the current context may be one that the call just made.
    CUdevice device = kNoDevice;
    const Driver* const driver = Driver::find();
    if (driver && driver->context_device && !exiting() &&
        driver->context_device(&device) != CUDA_SUCCESS)
        device = kNoDevice;
    if (call.ready())
        log::write(call.thread, {log::now(), call.api()}, format::Retried{device, 0, result});
}

// To be called before the thread is marked as inside, since a signal handler judges by both. The
// two words were just stored one by one: loading them as one would wait for these stores.
inline void mark_site(log::Thread& thread, const log::CallSite& site)
{
    thread.site.frame = site.frame;
    std::atomic_signal_fence(std::memory_order_release);
    thread.site.return_address = site.return_address;
    std::atomic_signal_fence(std::memory_order_release);
}

// The action is not copied, since the program's arguments were just written into it.
template <class Function, class Action, class Invoke>
[[gnu::always_inline]] inline CUresult intercept_wholly(Hook hook, const log::CallSite& site,
                                                        Action& action, Invoke invoke)
{
    using log::Inside;
    const auto real = reinterpret_cast<Function>(real_function(hook));
    if (!real) [[unlikely]]
        return CUDA_ERROR_NOT_FOUND;
    log::Thread& thread = log::this_thread;
    if (thread.inside != Inside::program) [[unlikely]]
        if (!enter_nested(thread, site))
            return invoke(real);
    const Inside outer = thread.inside; // Inside::driver, if a handler interrupted the driver
    log::CallSite outer_site;
    if (outer != Inside::program) [[unlikely]]
        outer_site = thread.site;
    mark_site(thread, site);
    Call call{thread, hook, thread.site};
    thread.inside = Inside::recorder;
    int driver_errno = errno; // the program's, as long as the driver is not asked
    const std::uint64_t api = call.api();
    constexpr bool kTimed = is_timed<Action>();
    const auto ask = [&]() __attribute__((always_inline))
    {
        const bool timed = kTimed && log::times_driver_call(thread, api) && log::is_ready(thread);
        const std::uint64_t began = timed ? log::now() : 0;
        errno = driver_errno;
        thread.inside = Inside::driver;
        const CUresult result = invoke(real);
        thread.inside = Inside::recorder;
        driver_errno = errno;
        if (timed) {
            call.ended = log::now();
            log::add_driver_time(thread, api, began, call.ended);
        }
        return result;
    };
    before(action, call);
    CUresult result = CUDA_SUCCESS;
    int tries = 0;
    for (;; ++tries) {
        result = answer(action, call, ask);
        if (result != CUDA_ERROR_OUT_OF_MEMORY || !may_succeed_now(action, call, tries)) [[likely]]
            break;
    }
    if (tries) [[unlikely]]
        record_retry(call, result);
    if (result != CUDA_SUCCESS) [[unlikely]]
        failed(action, call, result);
    else if (call.ready()) [[likely]]
        succeeded(action, call);
    if (kTimed && call.ended)
        log::settle_driver_times(thread, call.ended);
    errno = driver_errno;
    if (outer != Inside::program) [[unlikely]]
        thread.site = outer_site;
    thread.inside = outer;
    return result;
}

template <class Action>
[[gnu::noinline, gnu::cold]] void failed_alone(Hook hook, log::Thread& thread, Action& action,
                                               CUresult result)
{
    const int driver_errno = errno;
    thread.inside = log::Inside::recorder;
    Call call{thread, hook, thread.site};
    failed(action, call, result);
    errno = driver_errno;
}

// A call of which nothing but the record is wanted: without what a pool, a second try or a driver's
// call that is timed would need.
template <class Action, class Ask>
[[gnu::always_inline]] inline CUresult record_around(Hook hook, log::Thread& thread, Action& action,
                                                     const Ask& ask)
{
    using log::Inside;
    int& error = errno;
    const int program_errno = error;
    thread.inside = Inside::recorder;
    action.begin(thread, hook);
    error = program_errno;
    thread.inside = Inside::driver;
    const CUresult result = ask();
    const int driver_errno = error;
    thread.inside = Inside::recorder;
    if (result == CUDA_SUCCESS) [[likely]]
        action.end(thread);
    else
        failed_alone(hook, thread, action, result);
    error = driver_errno;
    thread.inside = Inside::program;
    return result;
}

// One that needs nothing now is passed on at once. Budget: 10 ns.
template <class Function, class Action, class Invoke>
[[gnu::always_inline]] inline CUresult intercept(Hook hook, const log::CallSite& site,
                                                 Action&& action, Invoke invoke)
{
    using log::Inside;
    if constexpr (requires { &Action::needs_nothing; }) {
        const auto real = reinterpret_cast<Function>(real_function(hook));
        log::Thread& thread = log::this_thread;
        if (real && thread.inside == Inside::program && action.needs_nothing(thread)) [[likely]] {
            mark_site(thread, site);
            thread.inside = Inside::driver;
            const CUresult result = invoke(real);
            if constexpr (requires { &Action::failed; })
                if (result != CUDA_SUCCESS) [[unlikely]]
                    failed_alone(hook, thread, action, result);
            thread.inside = Inside::program;
            return result;
        }
    }
    if constexpr (requires { &Action::is_plain; }) {
        const auto real = reinterpret_cast<Function>(real_function(hook));
        log::Thread& thread = log::this_thread;
        if (real && thread.inside == Inside::program && action.is_plain(thread) &&
            !log::times_driver_call(thread, static_cast<std::uint64_t>(hook))) [[likely]] {
            mark_site(thread, site);
            return record_around(hook, thread, action, [&] { return invoke(real); });
        }
    }
    return intercept_wholly<Function>(hook, site, action, invoke);
}

// A look-up allocates nothing and is never recorded.
template <class Function, class Invoke>
[[gnu::always_inline]] inline CUresult intercept(Hook hook, const log::CallSite& site,
                                                 LooksUp&& action, Invoke invoke)
{
    const auto real = reinterpret_cast<Function>(real_function(hook));
    if (!real) [[unlikely]]
        return CUDA_ERROR_NOT_FOUND;
    const CUresult result = invoke(real);
    const Driver* driver = result == CUDA_SUCCESS ? Driver::find() : nullptr;
    if (driver && !driver->contains(reinterpret_cast<const void*>(site.return_address)))
        action.substitute(*driver);
    return result;
}

} // namespace vramscope::hooks
