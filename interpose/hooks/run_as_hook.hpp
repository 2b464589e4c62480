// interpose/hooks/run_as_hook.hpp — our own part of a call that is none of the driver's.
#pragma once

#include <atomic>
#include <cerrno>

#include "tracker/lifecycle/lifecycle.hpp"
#include "tracker/log/nesting.hpp"

namespace vramscope::hooks {

// Runs `work` as a hook runs its own part: the thread is ready, and inside the recorder. Nothing is
// done where there is no log. False: the call comes from a signal handler that interrupted a hook.
template <class Work>
bool run_as_hook(const log::CallSite& site, Work work) noexcept
{
    log::Thread& thread = log::this_thread;
    if (!log::process->generation)
        return true;
    if (!log::is_in_program(thread, site.frame))
        return false;
    const int program_errno = errno;
    thread.site = site;
    std::atomic_signal_fence(std::memory_order_release); // a handler judges by both
    thread.inside = log::Inside::recorder;
    if (log::is_ready(thread) || log::join(thread))
        work(thread);
    thread.inside = log::Inside::program;
    errno = program_errno;
    return true;
}

} // namespace vramscope::hooks
