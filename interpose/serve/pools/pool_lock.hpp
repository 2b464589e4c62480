// interpose/serve/pools/pool_lock.hpp — what guards one pool.
//
// It is held for tens of nanoseconds, never across a driver call. To take it is one locked
// instruction, to leave it a plain store: a thread that finds it taken spins a little, then says so
// in a bit and sleeps until it is woken. One that says so between the two instructions of unlock()
// is overlooked, so each sleep has an end, later each time. To look again by the clock alone would
// be simpler, but thousands of threads that look each millisecond leave no processor to the holder.
// Signals are not held back, as that would cost two system calls: a handler's call finds its thread
// inside the recorder and passes by the pool. Should a handler leave by siglongjmp, near_pool_lock
// says which lock its thread took last, and the lock itself whether it holds it still.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
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

    void unlock() noexcept
    {
        const std::uint64_t held = holder_.load(std::memory_order_relaxed);
        holder_.store(kFree, std::memory_order_release);
        if (held & kWaitedFor) [[unlikely]]
            futex(FUTEX_WAKE_PRIVATE, 1, nullptr);
    }

    bool is_ours() const noexcept
    {
        return (holder_.load(std::memory_order_relaxed) & ~kWaitedFor) == self();
    }

private:
    static constexpr std::uint64_t kFree = 0;
    static constexpr std::uint64_t kWaitedFor = 1; // no address of a pointer is odd
    static constexpr int kSpins = 100;
    static constexpr long kFirstSleepNs = 1'000'000, kLongestSleepNs = 500'000'000;

    static std::uint64_t self() noexcept
    {
        return reinterpret_cast<std::uint64_t>(&near_pool_lock); // no other thread has this address
    }

    // kFree: it is taken now, and holds `wanted`. Else what it still holds.
    std::uint64_t spin(std::uint64_t wanted) noexcept
    {
        std::uint64_t found = kFree;
        for (int i = 0; i < kSpins; ++i) {
            found = holder_.load(std::memory_order_relaxed);
            if (found == kFree &&
                holder_.compare_exchange_strong(found, wanted, std::memory_order_acquire))
                return kFree;
            __builtin_ia32_pause();
        }
        return found;
    }

    // The holder has lost its processor. A thread that has slept takes the lock as one that is
    // waited for: others may sleep still.
    [[gnu::noinline]] void wait() noexcept
    {
        ++pool_lock_waits;
        std::uint64_t wanted = self();
        timespec longest{0, kFirstSleepNs};
        for (std::uint64_t found; (found = spin(wanted)) != kFree;) {
            if (!(found & kWaitedFor) &&
                !holder_.compare_exchange_strong(found, found | kWaitedFor))
                continue;
            futex(FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(found | kWaitedFor), &longest);
            wanted = self() | kWaitedFor;
            if (longest.tv_nsec < kLongestSleepNs)
                longest.tv_nsec *= 2;
        }
    }

    // The system call itself, as libc's ends a thread that is to be cancelled. It looks at the half
    // of the holder that has the bit.
    void futex(int operation, std::uint32_t value, const timespec* longest) noexcept
    {
        ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&holder_), operation, value, longest);
    }

    std::atomic<std::uint64_t> holder_{kFree}; // an address of the thread that holds it
};

} // namespace vramscope::hooks
