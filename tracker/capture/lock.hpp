// tracker/capture/lock.hpp — the lock of the recorder's cold paths.
//
// It is taken to open the log and for new stacks, contexts and modules. A process holds it, not a
// thread: a child of a fork takes it over if another thread of its parent held it at the fork.
// Waiting is on a futex, never by the clock. It is never held across a call of the driver or of the
// loader. Signals wait while it is held: a handler that leaves by siglongjmp would leave it held
// for ever. Use with std::lock_guard.
#pragma once

#include <atomic>
#include <climits>
#include <linux/futex.h>
#include <mutex>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "tracker/capture/signals.hpp"

namespace vramscope::capture {

class Lock {
public:
    void lock() noexcept
    {
        const SignalMask before = hold_signals();
        const pid_t self = ::getpid();
        for (pid_t holder = holder_.load();
             holder == self || !holder_.compare_exchange_weak(holder, self);
             holder = holder_.load())
            if (holder == self)
                futex(FUTEX_WAIT_PRIVATE, self);
        signals_before_ = before;
    }

    void unlock() noexcept
    {
        const SignalMask before = signals_before_;
        holder_.store(0);
        futex(FUTEX_WAKE_PRIVATE, INT_MAX);
        release_signals(before);
    }

private:
    // The wait of std::atomic would pull in the C++ runtime and its unwinder.
    void futex(int operation, pid_t value) noexcept
    {
        ::syscall(SYS_futex, reinterpret_cast<pid_t*>(&holder_), operation, value, nullptr);
    }

    std::atomic<pid_t> holder_{0};
    SignalMask signals_before_ = 0; // the holder's mask before lock()
};

} // namespace vramscope::capture
