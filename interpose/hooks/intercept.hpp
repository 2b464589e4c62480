// interpose/hooks/intercept.hpp — the one place where the order of a hooked call is decided.
//
// A free takes its time before the driver's call, an allocation after it; a record is written when
// the call has succeeded; a call from inside another (the driver calling itself, a signal handler)
// passes through. No lock of ours is held across the driver's call, and errno is the driver's.
// Budget without recording: 15 ns.
#pragma once

#include <cerrno>

#include "interpose/hooks/owner_actions.hpp"

namespace vramscope::hooks {

template <class Function, class Action, class Invoke>
[[gnu::always_inline]] inline CUresult intercept(Hook hook, const log::CallSite& site,
                                                 Action action, Invoke invoke)
{
    using log::Inside;
    const auto real = reinterpret_cast<Function>(real_function(hook));
    if (!real) [[unlikely]]
        return CUDA_ERROR_NOT_FOUND;
    log::Thread& thread = log::this_thread;
    if (thread.inside != Inside::program) [[unlikely]] {
        if (thread.inside == Inside::recorder)
            log::count_lost(format::Lost::signal);
        return invoke(real);
    }
    Call call{thread, hook, site};
    thread.inside = Inside::recorder;
    action.before(call);
    thread.inside = Inside::driver;
    const CUresult result = invoke(real);
    thread.inside = Inside::recorder;
    const int driver_errno = errno;
    if (result != CUDA_SUCCESS) [[unlikely]]
        action.failed(call, result);
    else if (call.ready()) [[likely]]
        action.succeeded(call);
    errno = driver_errno;
    thread.inside = Inside::program;
    return result;
}

// A look-up allocates nothing and is never recorded.
template <class Function, class Invoke>
[[gnu::always_inline]] inline CUresult intercept(Hook hook, const log::CallSite& site,
                                                 LooksUp action, Invoke invoke)
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
