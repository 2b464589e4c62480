// tests/tracker/capture/frame_walk_test.cpp — a walk sees what two unwinders see, or gives up.
#include "tracker/capture/frame_walk.hpp"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <execinfo.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/call_site.hpp"
#include "tests/tracker/fixture/frames.hpp"
#include "tracker/capture/unwinder.hpp"
#include "tracker/capture/verified_stacks.hpp"

using namespace vramscope;
using Frames = std::vector<std::uintptr_t>;

namespace {

struct Seen {
    Frames walked; // empty: it gave up
    Frames by_libunwind;
    Frames by_glibc;
    bool interrupting = false;
};

Frames glibc_frames(std::uintptr_t first)
{
    void* frames[400];
    void** const end = frames + ::backtrace(frames, 400);
    void** const begin = std::find(frames, end, reinterpret_cast<void*>(first));
    Frames found(static_cast<std::size_t>(end - begin));
    std::transform(begin, end, found.begin(),
                   [](void* frame) { return reinterpret_cast<std::uintptr_t>(frame); });
    return found;
}

// The stand-in for an exported hook.
[[gnu::noinline]] void take_frames(void* result)
{
    const log::CallSite site = VRAMSCOPE_TEST_CALL_SITE();
    capture::open_unwinder(capture::Unwinder::libunwind);
    auto* const stacks = capture::VerifiedStacks::create(capture::own_stack_bounds());
    std::uintptr_t frames[capture::kMaxFrames];
    bool truncated = false;
    auto& seen = *static_cast<Seen*>(result);
    const std::size_t walked = stacks->walk(site.frame, site.return_address, frames,
                                            capture::kMaxFrames, truncated, seen.interrupting);
    EXPECT_FALSE(truncated);
    seen.walked.assign(frames, frames + walked);
    const std::size_t unwound =
        capture::unwind(site.return_address, frames, capture::kMaxFrames, truncated);
    seen.by_libunwind.assign(frames, frames + unwound);
    seen.by_glibc = glibc_frames(site.return_address);
    stacks->destroy();
    VRAMSCOPE_TEST_KEEP_FRAME();
}

void expect_walked(const Seen& seen)
{
    EXPECT_GT(seen.walked.size(), 5u);
    EXPECT_EQ(seen.walked, seen.by_libunwind);
    EXPECT_EQ(seen.walked, seen.by_glibc);
}

void expect_given_up(const Seen& seen)
{
    EXPECT_EQ(seen.walked, Frames{});
    EXPECT_FALSE(seen.by_libunwind.empty());
}

Seen seen_by_handler;

Seen raise_with_handler(int flags)
{
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) { take_frames(&seen_by_handler); };
    action.sa_flags = flags;
    ::sigaction(SIGUSR1, &action, &before);
    ::raise(SIGUSR1);
    ::sigaction(SIGUSR1, &before, nullptr);
    return seen_by_handler;
}

} // namespace

TEST(FrameWalk, SeesAStackOfPlainFrames)
{
    Seen seen;
    take_frames(&seen);
    expect_walked(seen);
}

TEST(FrameWalk, SeesTheWholeStackOfAThread)
{
    Seen seen;
    std::thread([&seen] { take_frames(&seen); }).join();
    EXPECT_GT(seen.walked.size(), 2u);
    EXPECT_EQ(seen.walked, seen.by_libunwind);
}

TEST(FrameWalk, SeesAStackWithinACatchBlock)
{
    Seen seen;
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception&) {
        take_frames(&seen);
    }
    expect_walked(seen);
}

TEST(FrameWalk, SeesADestructorThatAnExceptionRuns)
{
    Seen seen;
    struct Taking {
        Seen& seen;
        ~Taking() { take_frames(&seen); }
    };
    try {
        const Taking taking{seen};
        throw std::runtime_error("thrown");
    } catch (const std::exception&) {
    }
    expect_walked(seen);
}

TEST(FrameWalk, SeesAStackThatALongjmpLeftBehind)
{
    static std::jmp_buf place;
    static Seen seen;
    if (setjmp(place) == 0)
        test::frames_o2::alloca_frame([](void*) { std::longjmp(place, 1); }, nullptr, 1000);
    take_frames(&seen);
    expect_walked(seen);
}

TEST(FrameWalk, SeesAFunctionThatEndsWithItsCall)
{
    static std::jmp_buf place;
    static Seen seen;
    struct Ending {
        [[gnu::noinline, noreturn]] static void leave(void* result)
        {
            take_frames(result);
            std::longjmp(place, 1);
        }
        [[gnu::noinline, noreturn]] static void end(void* result) { leave(result); }
    };
    if (setjmp(place) == 0)
        Ending::end(&seen);
    expect_walked(seen);
}

TEST(FrameWalk, SeesACallbackOfLibc)
{
    static Seen seen;
    int numbers[] = {2, 1};
    std::qsort(numbers, 2, sizeof *numbers, [](const void* one, const void* other) {
        if (seen.walked.empty())
            take_frames(&seen);
        return *static_cast<const int*>(one) - *static_cast<const int*>(other);
    });
    expect_walked(seen);
}

TEST(FrameWalk, SeesWhatASignalInterrupted)
{
    const Seen seen = raise_with_handler(0);
    expect_walked(seen);
    EXPECT_TRUE(seen.interrupting);
    Seen plain;
    take_frames(&plain);
    EXPECT_FALSE(plain.interrupting);
}

TEST(FrameWalk, GivesUpOnAnotherStack)
{
    std::vector<char> memory(1 << 18);
    stack_t stack{}, before{};
    stack.ss_sp = memory.data();
    stack.ss_size = memory.size();
    ASSERT_EQ(::sigaltstack(&stack, &before), 0);
    const Seen seen = raise_with_handler(SA_ONSTACK);
    ::sigaltstack(&before, nullptr);
    expect_given_up(seen);
}

TEST(FrameWalk, GivesUpAtFramesThatHaveNoPlainRule)
{
    for (const auto shape :
         {&test::frame_without_cfi, &test::frame_by_expression, &test::frame_by_other_register,
          &test::frame_on_another_stack, &test::frame_with_pointer_in_register}) {
        Seen seen;
        shape(&take_frames, &seen, 0);
        expect_given_up(seen);
    }
}

TEST(FrameWalk, GivesUpWhereARuleLeadsOutOfTheStack)
{
    Seen seen;
    const auto stack = capture::own_stack_bounds();
    std::vector<char> memory(1 << 18);
    void* const top = memory.data() + memory.size() - 64;
    // The frame on the vector leads back to the thread's stack, which is elsewhere.
    test::call_on_stack(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(top) & ~15ul),
                        &take_frames, &seen);
    EXPECT_TRUE(reinterpret_cast<std::uintptr_t>(top) < stack.low ||
                reinterpret_cast<std::uintptr_t>(top) > stack.high);
    expect_given_up(seen);
}

TEST(FrameWalk, CutsWhereThereIsNoMoreRoom)
{
    struct Cut {
        [[gnu::noinline]] static void take_three(void*)
        {
            const log::CallSite site = VRAMSCOPE_TEST_CALL_SITE();
            auto* const stacks = capture::VerifiedStacks::create(capture::own_stack_bounds());
            std::uintptr_t frames[3];
            bool truncated = false;
            bool interrupting = true;
            EXPECT_EQ(
                stacks->walk(site.frame, site.return_address, frames, 3, truncated, interrupting),
                3u);
            EXPECT_TRUE(truncated);
            EXPECT_FALSE(interrupting);
            EXPECT_EQ(frames[0], site.return_address);
            stacks->destroy();
            VRAMSCOPE_TEST_KEEP_FRAME();
        }
    };
    test::frames_o2::plain(&Cut::take_three, nullptr, 1);
}
