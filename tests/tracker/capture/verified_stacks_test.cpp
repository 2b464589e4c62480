// tests/tracker/capture/verified_stacks_test.cpp — a remembered stack is never taken for another.
#include "tracker/capture/verified_stacks.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/frames.hpp"
#include "tests/tracker/fixture/prober.hpp"

using namespace vramscope;
using test::probe;
using test::Prober;

namespace {

[[gnu::noinline]] void allocate(Prober& prober)
{
    probe(&prober);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

// Functions of one frame size: with the same caller they leave the same stack pointer.
template <int N>
[[gnu::noinline]] void caller(Prober& prober)
{
    volatile int keep = N;
    allocate(prober);
    VRAMSCOPE_TEST_KEEP_FRAME();
    (void)keep;
}

template <int... N>
constexpr auto callers_of(std::integer_sequence<int, N...>)
{
    return std::array<void (*)(Prober&), sizeof...(N)>{&caller<N>...};
}
constexpr auto kCallers = callers_of(std::make_integer_sequence<int, 300>());

[[gnu::noinline]] void recurse(Prober& prober, int depth, void (*last)(Prober&) = &allocate)
{
    if (depth)
        recurse(prober, depth - 1, last);
    else
        last(prober);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

[[gnu::noinline]] void inner_alloca(Prober& prober, std::size_t bytes)
{
    asm volatile("" ::"r"(__builtin_alloca(bytes)) : "memory");
    allocate(prober);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

[[gnu::noinline]] void outer_alloca(Prober& prober, std::size_t bytes, std::size_t inner_bytes)
{
    asm volatile("" ::"r"(__builtin_alloca(bytes)) : "memory");
    inner_alloca(prober, inner_bytes);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

[[gnu::noinline]] void call_deep(Prober& prober, std::size_t bytes, void (*last)(Prober&))
{
    asm volatile("" ::"r"(__builtin_alloca(bytes)) : "memory");
    recurse(prober, 200, last);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

// One of 2^depth stacks; all have the same frames' places.
[[gnu::noinline]] void path(Prober& prober, unsigned bits, int depth);
[[gnu::noinline]] void left(Prober& prober, unsigned bits, int depth)
{
    path(prober, bits, depth);
    VRAMSCOPE_TEST_KEEP_FRAME();
}
[[gnu::noinline]] void right(Prober& prober, unsigned bits, int depth)
{
    path(prober, bits, depth);
    VRAMSCOPE_TEST_KEEP_FRAME();
}
void path(Prober& prober, unsigned bits, int depth)
{
    if (depth == 0)
        allocate(prober);
    else
        (bits & 1 ? &left : &right)(prober, bits >> 1, depth - 1);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

} // namespace

TEST(StackBounds, HoldTheStackOfTheThreadThatAsks)
{
    const auto check = [] {
        const capture::StackBounds bounds = capture::own_stack_bounds();
        // Not a variable's address: AddressSanitizer may keep variables on a stack of its own.
        const auto address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        EXPECT_LT(bounds.low, address);
        EXPECT_GT(bounds.high, address);
        EXPECT_LT(bounds.high - bounds.low, std::size_t{128} << 20);
    };
    check();
    std::thread(check).join();
}

TEST(VerifiedStacks, RecogniseAStackFromItsSecondTimeOn)
{
    Prober prober;
    for (int time = 1; time <= 10; ++time) {
        caller<0>(prober);
        EXPECT_EQ(prober.recognised, static_cast<std::size_t>(time - 1));
    }
    EXPECT_EQ(prober.wrong, 0u);
}

TEST(VerifiedStacks, TellCallersApartThatDifferOnlyDeeperInTheStack)
{
    Prober prober;
    std::uintptr_t frames[2];
    std::uint32_t ids[2];
    for (int time = 0; time < 20; ++time) {
        for (int i = 0; i < 2; ++i) {
            kCallers[static_cast<std::size_t>(i)](prober);
            frames[i] = prober.last_frame;
            ids[i] = prober.last_id;
        }
    }
    EXPECT_EQ(frames[0], frames[1]) << "the two are meant to look alike to the hook";
    EXPECT_NE(ids[0], ids[1]);
    EXPECT_EQ(prober.wrong, 0u);
    EXPECT_GE(prober.recognised, 34u);
}

TEST(VerifiedStacks, RecogniseManyCallersOfOneFunction)
{
    Prober prober;
    std::mt19937 random(1);
    for (int run = 0; run < 20000; ++run)
        kCallers[random() % kCallers.size()](prober);
    EXPECT_EQ(prober.wrong, 0u);
    EXPECT_LE(prober.missed, 4 * kCallers.size());
}

TEST(VerifiedStacks, TellDepthsOfARecursionApart)
{
    Prober prober;
    std::mt19937 random(1);
    for (int run = 0; run < 5000; ++run)
        recurse(prober, static_cast<int>(random() % 100));
    EXPECT_EQ(prober.wrong, 0u);
    EXPECT_GE(prober.recognised, 4000u);
}

TEST(VerifiedStacks, RecogniseTheKeptPartOfAStackThatGoesOn)
{
    Prober prober;
    prober.most_frames = 10;
    for (int run = 0; run < 100; ++run)
        recurse(prober, 40 + run % 2);
    EXPECT_EQ(prober.wrong, 0u);
    EXPECT_GE(prober.recognised, 90u);
}

TEST(VerifiedStacks, FollowFramesThatMoveWithTheSizesOfTheirArrays)
{
    Prober prober;
    constexpr std::size_t kSizes[] = {16, 64, 128, 256, 2048};
    std::map<std::uintptr_t, int> frames;
    for (int run = 0; run < 100; ++run) {
        for (const std::size_t outer : kSizes) {
            for (const std::size_t inner : kSizes) {
                outer_alloca(prober, outer, inner);
                ++frames[prober.last_frame];
            }
        }
    }
    EXPECT_LT(frames.size(), 25u) << "64+128 and 128+64 are meant to leave the same stack pointer";
    EXPECT_EQ(prober.wrong, 0u);
    EXPECT_GE(prober.recognised, 2000u);
}

TEST(VerifiedStacks, AreEachThreadsOwn)
{
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            Prober prober;
            std::mt19937 random(t);
            for (int run = 0; run < 3000; ++run)
                kCallers[random() % 20](prober);
            EXPECT_EQ(prober.wrong, 0u);
            EXPECT_GE(prober.recognised, 2500u);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

TEST(VerifiedStacks, ForgetWhenCodeWasUnloaded)
{
    Prober prober;
    for (int run = 0; run < 9; ++run) {
        prober.epoch = static_cast<std::uint64_t>(run / 3);
        caller<0>(prober);
    }
    EXPECT_EQ(prober.recognised, 6u) << "in each epoch from the second time on";
    EXPECT_EQ(prober.wrong, 0u);
}

TEST(VerifiedStacks, GoOnWhenTheirMemoryIsFull)
{
    Prober prober;
    constexpr unsigned kPaths = 1u << 14; // more than there are nodes
    for (unsigned run = 0; run < 3 * kPaths; ++run)
        path(prober, run / 3, 14);
    EXPECT_EQ(prober.wrong, 0u);
    EXPECT_GE(prober.recognised, kPaths * 9 / 10);
    const std::size_t before = prober.recognised;
    for (int time = 0; time < 10; ++time)
        path(prober, 0, 14);
    EXPECT_GE(prober.recognised, before + 8);
    EXPECT_EQ(prober.wrong, 0u);
}

TEST(VerifiedStacks, KeepRoomForStacksThatComeAgain)
{
    Prober prober;
    for (unsigned run = 0; run < 1u << 13; ++run) // each stack once
        path(prober, run, 13);
    EXPECT_EQ(prober.recognised, 0u);
    for (int time = 1; time <= 4; ++time) {
        caller<0>(prober);
        EXPECT_EQ(prober.recognised, static_cast<std::size_t>(std::max(0, time - 2)));
    }
    EXPECT_EQ(prober.wrong, 0u);
}

TEST(VerifiedStacks, GoOnWhenAllTheirWordsAreTaken)
{
    Prober prober;
    for (int run = 0; run < 3000; ++run) { // each stack three times, from one line
        if (run % 3 == 0)                  // so that no two end in the same words
            asm volatile("" ::"r"(__builtin_alloca(16)) : "memory");
        recurse(prober, 200);
    }
    EXPECT_EQ(prober.wrong, 0u);
    EXPECT_GE(prober.recognised, 950u);
}

TEST(VerifiedStacks, KeepOnceWhatManyStacksEndIn)
{
    Prober prober;
    std::size_t recognised = 0;
    for (const int times : {2, 1}) { // had each its own words, they would not all fit
        for (std::size_t bytes = 64; bytes <= 192; bytes += 64)
            for (const auto& each : kCallers)
                for (int time = 0; time < times; ++time)
                    call_deep(prober, bytes, each);
        EXPECT_EQ(prober.recognised, recognised += 3 * kCallers.size());
    }
    EXPECT_EQ(prober.wrong, 0u);
}

// ---- stacks that are not the thread's own must not be remembered, or read when they are gone ----

namespace {

Prober* fiber_prober;

void run_on_fiber(void* stack, std::size_t bytes)
{
    static ucontext_t here, fiber;
    ASSERT_EQ(::getcontext(&fiber), 0);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = bytes;
    fiber.uc_link = &here;
    ::makecontext(
        &fiber, [] { caller<0>(*fiber_prober); }, 0);
    ASSERT_EQ(::swapcontext(&here, &fiber), 0);
}

} // namespace

TEST(VerifiedStacks, DoNotRememberFibers)
{
    Prober prober;
    fiber_prober = &prober;
    constexpr std::size_t kBytes = 256 * 1024;
    void* place = nullptr;
    for (int run = 0; run < 10; ++run) {
        void* stack = ::mmap(place, kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
        ASSERT_NE(stack, MAP_FAILED);
        place = stack;
        run_on_fiber(stack, kBytes);
        ASSERT_EQ(::munmap(stack, kBytes), 0);
    }
    EXPECT_EQ(prober.recognised, 0u);
    EXPECT_EQ(prober.missed, 10u);
}

TEST(VerifiedStacks, DoNotRememberAStackThatLeadsBackToTheThreadsOwn)
{
    Prober prober;
    fiber_prober = &prober;
    alignas(16) static char stack[256 * 1024];
    for (int run = 0; run < 10; ++run)
        test::call_on_stack(
            stack + sizeof stack, [](void*) { caller<0>(*fiber_prober); }, nullptr);
    EXPECT_EQ(prober.recognised, 0u);
    EXPECT_EQ(prober.missed, 10u);
}

TEST(VerifiedStacks, AreRightForAFiberInsideTheThreadsOwnStack)
{
    Prober prober;
    fiber_prober = &prober;
    alignas(64) char stack[128 * 1024];
    for (int run = 0; run < 10; ++run) {
        run_on_fiber(stack, sizeof stack);
        caller<0>(prober);
    }
    EXPECT_EQ(prober.wrong, 0u);
}

TEST(VerifiedStacks, DoNotRememberSignalHandlers)
{
    for (const bool own_stack : {false, true}) {
        Prober prober;
        fiber_prober = &prober;
        static char memory[128 * 1024];
        stack_t alternate{}, before_stack{};
        alternate.ss_sp = memory;
        alternate.ss_size = sizeof memory;
        ASSERT_EQ(::sigaltstack(&alternate, &before_stack), 0);
        struct sigaction action {
        }, before{};
        action.sa_handler = [](int) { caller<0>(*fiber_prober); };
        action.sa_flags = own_stack ? SA_ONSTACK : 0;
        ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
        for (int run = 0; run < 10; ++run)
            ::raise(SIGUSR1);
        ::sigaction(SIGUSR1, &before, nullptr);
        before_stack.ss_flags = SS_DISABLE;
        ::sigaltstack(&before_stack, nullptr);
        EXPECT_EQ(prober.missed, 10u);
        EXPECT_EQ(prober.recognised, 0u);
    }
}
