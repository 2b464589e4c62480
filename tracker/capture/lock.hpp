// tracker/capture/lock.hpp — the lock of the recorder's cold paths: new stacks, new contexts, new modules.
//
// Waits on a futex, never sleeps by the clock. Never held across a driver call or a call of the loader.
// pthread mutexes would do but for fork: a child starts with a fresh one by assigning {}.
#pragma once

#include <atomic>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vramscope::capture {

class Lock {
public:
    void lock() noexcept
    {
        int expected = kFree;
        if (state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire))
            return;
        while (state_.exchange(kContended, std::memory_order_acquire) != kFree)
            futex(FUTEX_WAIT_PRIVATE, kContended);
    }

    void unlock() noexcept
    {
        if (state_.exchange(kFree, std::memory_order_release) == kContended)
            futex(FUTEX_WAKE_PRIVATE, 1);
    }

    // In the child of a fork: whoever held it does not exist here.
    void reset() noexcept { state_.store(kFree, std::memory_order_relaxed); }

private:
    // std::atomic's own wait pulls in the C++ runtime, unwinder and all.
    void futex(int operation, int value) noexcept
    {
        ::syscall(SYS_futex, reinterpret_cast<int*>(&state_), operation, value, nullptr);
    }

    static constexpr int kFree = 0, kHeld = 1, kContended = 2;
    std::atomic<int> state_ { kFree };
};

class LockGuard {
public:
    explicit LockGuard(Lock& lock) noexcept
        : lock_(lock)
    {
        lock_.lock();
    }
    ~LockGuard() { lock_.unlock(); }
    LockGuard(const LockGuard&) = delete;
    LockGuard& operator=(const LockGuard&) = delete;

private:
    Lock& lock_;
};

}  // namespace vramscope::capture
