// tests/tracker/capture/lock_test.cpp — one at a time, over a fork too, and no handler in between.
#include "tracker/capture/lock.hpp"

#include <csignal>
#include <future>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

using vramscope::capture::Lock;
using vramscope::capture::SignalsHeld;

namespace {

bool is_held_back(int number)
{
    sigset_t mask;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return ::sigismember(&mask, number) == 1;
}

} // namespace

TEST(Lock, LetsOneThreadInAtATime)
{
    constexpr int kThreads = 8, kTimes = 50'000;
    Lock lock;
    long counted = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < kTimes; ++i) {
                const std::lock_guard guard(lock);
                ++counted;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(counted, long{kThreads} * kTimes);
}

TEST(Lock, WakesEachThreadThatWaits)
{
    constexpr int kThreads = 8;
    Lock lock;
    std::atomic<int> waiting{0};
    std::vector<std::thread> threads;
    lock.lock();
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&] {
            waiting.fetch_add(1);
            const std::lock_guard guard(lock);
            std::this_thread::yield(); // the others are asleep again by now, or about to be
        });
    while (waiting.load() < kThreads) {
    }
    lock.unlock();
    for (std::thread& thread : threads)
        thread.join();
}

TEST(Lock, IsTakenOverByAChildWhoseParentHeldIt)
{
    Lock lock;
    std::promise<void> held, over;
    std::thread holder([&] {
        const std::lock_guard guard(lock);
        held.set_value();
        over.get_future().wait();
    });
    held.get_future().wait();
    const pid_t child = ::fork();
    if (child == 0) {
        {
            const std::lock_guard guard(lock);
        }
        {
            const std::lock_guard guard(lock);
        }
        ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    over.set_value();
    holder.join();
}

TEST(Lock, HoldsSignalsBackUntilTheOutermostHoldEnds)
{
    Lock lock;
    ASSERT_FALSE(is_held_back(SIGUSR1));
    {
        const SignalsHeld outermost;
        lock.lock();
        EXPECT_TRUE(is_held_back(SIGUSR1));
        EXPECT_FALSE(is_held_back(SIGSEGV)) << "it tells of a fault of this very thread";
        lock.unlock();
        EXPECT_TRUE(is_held_back(SIGUSR1));
    }
    EXPECT_FALSE(is_held_back(SIGUSR1));
    lock.lock();
    EXPECT_TRUE(is_held_back(SIGUSR1));
    lock.unlock();
    EXPECT_FALSE(is_held_back(SIGUSR1));
}

TEST(Lock, LeavesAMaskOfTheProgramAsItWas)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    Lock lock;
    {
        const std::lock_guard guard(lock);
    }
    EXPECT_TRUE(is_held_back(SIGUSR2));
    EXPECT_FALSE(is_held_back(SIGUSR1));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
