// interpose/serve/pools/pool_lock.hpp — what guards one pool.
//
// It is held for tens of nanoseconds, never across a driver call. To take it is one locked
// instruction, to leave it a plain store: a thread that finds it taken spins a little, then sleeps
// and looks again, as to be woken would cost the holder a second locked instruction in each call.
// Signals are not held back, as that would cost two system calls: a handler's call finds its thread
// inside the recorder and passes by the pool. Should a handler leave by siglongjmp, near_pool_lock
// says which lock its thread took last, and the lock itself whether it holds it still.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

namespace vramscope::hooks {

class PoolLock;
inline thread_local constinit PoolLock* near_pool_lock = nullptr; // the last this thread asked for
inline thread_local constinit int pool_lock_waits = 0;            // how often it found one taken

class PoolLock {
public:
    void lock() noexcept
    {
        near_pool_lock = this;
        std::atomic_signal_fence(std::memory_order_release);
        std::uint64_t expected = kFree;
        if (!holder_.compare_exchange_strong(expected, self(), std::memory_order_acquire))
            [[unlikely]]
            wait();
    }

    void unlock() noexcept { holder_.store(kFree, std::memory_order_release); }

    bool is_ours() const noexcept { return holder_.load(std::memory_order_relaxed) == self(); }

private:
    static constexpr std::uint64_t kFree = 0;
    static constexpr int kSpins = 100;
    static constexpr long kFirstSleepNs = 20'000, kLongestSleepNs = 1'000'000;

    static std::uint64_t self() noexcept
    {
        return reinterpret_cast<std::uint64_t>(&near_pool_lock); // no other thread has this address
    }

    bool spin() noexcept
    {
        for (int i = 0; i < kSpins; ++i) {
            std::uint64_t expected = kFree;
            if (holder_.load(std::memory_order_relaxed) == kFree &&
                holder_.compare_exchange_strong(expected, self(), std::memory_order_acquire))
                return true;
            __builtin_ia32_pause();
        }
        return false;
    }

    // The holder has lost its processor. The system call itself, as libc's ends a thread that is to
    // be cancelled.
    [[gnu::noinline]] void wait() noexcept
    {
        ++pool_lock_waits;
        for (timespec sleep{0, kFirstSleepNs}; !spin();) {
            ::syscall(SYS_nanosleep, &sleep, nullptr);
            if (sleep.tv_nsec < kLongestSleepNs)
                sleep.tv_nsec *= 2;
        }
    }

    std::atomic<std::uint64_t> holder_{kFree}; // an address of the thread that holds it
};

} // namespace vramscope::hooks
