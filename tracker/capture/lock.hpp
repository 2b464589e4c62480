// tracker/capture/lock.hpp — the lock of the recorder's cold paths.
//
// It is taken to open the log and for new stacks, contexts and modules. A process holds it, not a
// thread: a child of a fork takes it over if another thread of its parent held it at the fork.
// Waiting is on a futex, never by the clock. It is never held across a call of the driver or of the
// loader. Signals wait while it is held: a handler that leaves by siglongjmp would leave it held
// for ever. Use with std::lock_guard.
#pragma once

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracker/capture/signals.hpp"

namespace vramscope::capture {

class Lock {
public:
    void lock() noexcept
    {
        hold_signals();
        const auto self = static_cast<std::uint32_t>(::getpid());
        std::uint32_t wanted = self;
        std::uint32_t found = 0;
        while (!holder_.compare_exchange_strong(found, wanted)) {
            if ((found & ~kWaitedFor) != self)
                continue; // free by now, or the parent's
            if ((found & kWaitedFor) || holder_.compare_exchange_strong(found, self | kWaitedFor))
                futex(FUTEX_WAIT_PRIVATE, self | kWaitedFor);
            wanted = self | kWaitedFor; // others may wait still
            found = 0;
        }
    }

    void unlock() noexcept
    {
        if (holder_.exchange(0) & kWaitedFor)
            futex(FUTEX_WAKE_PRIVATE, 1);
        release_signals();
    }

private:
    static constexpr std::uint32_t kWaitedFor = 1u << 31; // no process id has this bit

    // The wait of std::atomic would pull in the C++ runtime and its unwinder.
    void futex(int operation, std::uint32_t value) noexcept
    {
        ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&holder_), operation, value, nullptr);
    }

    std::atomic<std::uint32_t> holder_{0};
};

} // namespace vramscope::capture
