// interpose/hooks/pool_lock.hpp — what guards one pool: held for tens of nanoseconds, never across
// a driver call.
//
// Spins a little, then waits on a futex. Signals are not held back, that would cost two system
// calls: a handler's call finds its thread inside the recorder and passes by the pool. Should a
// handler leave by siglongjmp while the lock is held, held_pool_lock says so, and pools are used
// no more.
#pragma once

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vramscope::hooks {

class PoolLock;
inline thread_local constinit PoolLock* held_pool_lock = nullptr; // by this thread

class PoolLock {
public:
    void lock() noexcept
    {
        std::uint32_t expected = kFree;
        if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire))
            [[unlikely]]
            wait();
        held_pool_lock = this;
    }

    void unlock() noexcept
    {
        held_pool_lock = nullptr;
        std::atomic_signal_fence(std::memory_order_release);
        if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) [[unlikely]]
            futex(FUTEX_WAKE_PRIVATE, 1);
    }

private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kHeld = 1;
    static constexpr std::uint32_t kWaitedFor = 2;
    static constexpr int kSpins = 100;

    [[gnu::noinline]] void wait() noexcept
    {
        for (int i = 0; i < kSpins; ++i) {
            std::uint32_t expected = kFree;
            if (state_.load(std::memory_order_relaxed) == kFree &&
                state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire))
                return;
            __builtin_ia32_pause();
        }
        while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree)
            futex(FUTEX_WAIT_PRIVATE, kWaitedFor);
    }

    void futex(int operation, std::uint32_t value) noexcept
    {
        ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), operation, value, nullptr);
    }

    std::atomic<std::uint32_t> state_{kFree};
};

} // namespace vramscope::hooks
