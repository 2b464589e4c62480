// interpose/serve/pool_lock.hpp — what guards one pool.
//
// It is held for tens of nanoseconds, never across a driver call. It spins a little, then waits on
// a futex. Signals are not held back, as that would cost two system calls: a handler's call finds
// its thread inside the recorder and passes by the pool. Should a handler leave by siglongjmp,
// near_pool_lock says which lock its thread was about to take, held or had just left, and the lock
// itself which thread holds it: give_back() sorts that out.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vramscope::hooks {

class PoolLock;
inline thread_local constinit PoolLock* near_pool_lock = nullptr; // the one this thread is near
inline thread_local constinit int pool_lock_waits = 0;            // how often it found one taken

class PoolLock {
public:
    void lock() noexcept
    {
        near_pool_lock = this;
        std::atomic_signal_fence(std::memory_order_release);
        std::uint64_t expected = kFree;
        if (!state_.compare_exchange_strong(expected, self(), std::memory_order_acquire))
            [[unlikely]]
            wait();
    }

    void unlock() noexcept
    {
        if (state_.exchange(kFree, std::memory_order_release) & kWaitedFor) [[unlikely]]
            futex(FUTEX_WAKE_PRIVATE, 1);
        std::atomic_signal_fence(std::memory_order_release);
        near_pool_lock = nullptr;
    }

    bool is_ours() const noexcept { return (state_.load() & ~kWaitedFor) == self(); }

    // For a thread that left lock(), unlock() or what is between them by a jump.
    void give_back() noexcept
    {
        if (is_ours())
            state_.store(kFree);
        futex(FUTEX_WAKE_PRIVATE, INT_MAX); // it may have left waiting threads asleep
        near_pool_lock = nullptr;
    }

private:
    // The lock's state: which thread holds it, and whether others wait.
    static constexpr std::uint64_t kFree = 0;
    static constexpr std::uint64_t kWaitedFor = 1;
    static constexpr int kSpins = 100;

    static std::uint64_t self() noexcept
    {
        return reinterpret_cast<std::uint64_t>(&near_pool_lock); // no other thread has this address
    }

    [[gnu::noinline]] void wait() noexcept
    {
        ++pool_lock_waits;
        for (int i = 0; i < kSpins; ++i) {
            std::uint64_t expected = kFree;
            if (state_.load(std::memory_order_relaxed) == kFree &&
                state_.compare_exchange_strong(expected, self(), std::memory_order_acquire))
                return;
            __builtin_ia32_pause();
        }
        for (;;) {
            std::uint64_t state = state_.load(std::memory_order_relaxed);
            // Others may wait too: a thread that was woken cannot know.
            if (state == kFree) {
                if (state_.compare_exchange_strong(state, self() | kWaitedFor,
                                                   std::memory_order_acquire))
                    return;
            } else if ((state & kWaitedFor) != 0 ||
                       state_.compare_exchange_strong(state, state | kWaitedFor,
                                                      std::memory_order_relaxed)) {
                futex(FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(state | kWaitedFor));
            }
        }
    }

    // Its word is the lower half of the state.
    void futex(int operation, std::uint32_t value) noexcept
    {
        ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), operation, value, nullptr);
    }

    std::atomic<std::uint64_t> state_{kFree};
};

} // namespace vramscope::hooks
