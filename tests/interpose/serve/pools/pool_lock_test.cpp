// tests/interpose/serve/pools/pool_lock_test.cpp — the lock, left at each of its instructions.
//
// The processor stops after each instruction (the trap flag), and the n-th time the handler does
// not come back.
#include "interpose/serve/pools/pool_lock.hpp"

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace vramscope::hooks {
namespace {

sigjmp_buf way_out;
std::atomic<int> steps_left{0};

void step(int)
{
    if (steps_left > 0 && --steps_left == 0)
        siglongjmp(way_out, 1);
}

// Below the red zone, which the compiler may use for locals.
[[gnu::always_inline]] inline void trap_each_instruction()
{
    asm volatile("lea -128(%%rsp), %%rsp\n pushfq\n orl $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), "
                 "%%rsp" ::
                     : "memory", "cc");
}
[[gnu::always_inline]] inline void trap_no_more()
{
    asm volatile("lea -128(%%rsp), %%rsp\n pushfq\n andl $~0x100, (%%rsp)\n popfq\n lea "
                 "128(%%rsp), %%rsp" ::
                     : "memory", "cc");
}

// True: it was left before its end.
bool left_behind(int steps, PoolLock& lock)
{
    steps_left = steps;
    if (sigsetjmp(way_out, 1) != 0)
        return true;
    trap_each_instruction();
    lock.lock();
    lock.unlock();
    trap_no_more();
    return false;
}

// Ends the test program if it cannot, as no thread that waits for a lock can be stopped.
void expect_free_for_others(PoolLock& lock, int steps)
{
    std::promise<void> taken;
    std::thread other([&] {
        lock.lock();
        lock.unlock();
        taken.set_value();
    });
    if (taken.get_future().wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
        std::fprintf(stderr, "still locked after a jump after instruction %d\n", steps);
        std::_Exit(1);
    }
    other.join();
}

TEST(PoolLock, IsGivenBackWhereverAHandlerLeftIt)
{
    struct sigaction action {};
    action.sa_handler = step;
    sigaction(SIGTRAP, &action, nullptr);
    int held = 0;
    int steps = 1;
    for (;; ++steps) {
        PoolLock lock;
        if (!left_behind(steps, lock))
            break;
        if (near_pool_lock && near_pool_lock->is_ours()) {
            EXPECT_EQ(near_pool_lock, &lock);
            ++held;
            lock.unlock();
        }
        EXPECT_FALSE(lock.is_ours());
        expect_free_for_others(lock, steps);
    }
    EXPECT_GT(steps, 5) << "instructions";
    EXPECT_GT(held, 0);
    signal(SIGTRAP, SIG_DFL);
}

TEST(PoolLock, GuardsFromAllOthers)
{
    PoolLock lock;
    long counted = 0;
    std::vector<std::thread> threads;
    for (int at = 0; at < 8; ++at)
        threads.emplace_back([&] {
            for (int turn = 0; turn < 50'000; ++turn) {
                lock.lock();
                counted = counted + 1;
                lock.unlock();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(counted, 400'000);
}

// With thousands of them on few processors, each look would keep the holder from its own.
TEST(PoolLock, ThreadsSleepUntilTheyAreWoken)
{
    constexpr int kThreads = 4;
    constexpr long kMostSleeps = 12; // by the clock alone, each of them slept 200 times
    PoolLock lock;
    lock.lock();
    std::atomic<long> sleeps{0};
    std::vector<std::thread> threads;
    for (int at = 0; at < kThreads; ++at)
        threads.emplace_back([&] {
            lock.lock();
            lock.unlock();
            rusage used{};
            getrusage(RUSAGE_THREAD, &used);
            sleeps += used.ru_nvcsw;
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ASSERT_TRUE(lock.is_ours());
    lock.unlock();
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_FALSE(lock.is_ours());
    EXPECT_GE(sleeps, kThreads) << "nobody slept";
    EXPECT_LE(sleeps, kThreads * kMostSleeps);
}

} // namespace
} // namespace vramscope::hooks
