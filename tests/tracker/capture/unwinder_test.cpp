// tests/tracker/capture/unwinder_test.cpp — either unwinder gives the caller's return addresses.
//
// Nothing below the caller is among them. The unwinder is chosen once in a process, so each test
// runs in a child.
#include "tracker/capture/unwinder.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/call_site.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/tracker/fixture/frames.hpp"

using namespace vramscope;
using namespace vramscope::capture;

namespace {

struct Stack {
    std::vector<std::uintptr_t> frames;
    bool truncated = false;
    std::vector<std::uintptr_t> by_glibc; // from the hook's caller on
};

[[gnu::noinline]] Stack take(std::size_t capacity)
{
    const log::CallSite site = VRAMSCOPE_TEST_CALL_SITE();
    Stack stack;
    std::uintptr_t frames[kMaxFrames];
    stack.frames.assign(frames,
                        frames + unwind(site.return_address, frames, capacity, stack.truncated));
    void* all[kMaxFrames];
    void** const end = all + ::backtrace(all, kMaxFrames);
    void** const caller = std::find(all, end, reinterpret_cast<void*>(site.return_address));
    for (void** frame = caller; frame != end; ++frame)
        stack.by_glibc.push_back(reinterpret_cast<std::uintptr_t>(*frame));
    return stack;
}

[[gnu::noinline]] Stack take_below(std::size_t depth, std::size_t capacity)
{
    Stack stack = depth ? take_below(depth - 1, capacity) : take(capacity);
    VRAMSCOPE_TEST_KEEP_FRAME();
    return stack;
}

constexpr std::size_t kDepth = 20;

class UnwinderTest : public ::testing::TestWithParam<Unwinder> {};

} // namespace

TEST_P(UnwinderTest, GivesTheCallersReturnAddressesToTheOutermost)
{
    test::run_in_child([&] {
        open_unwinder(GetParam());
        EXPECT_EQ(current_unwinder(), GetParam());
        const Stack stack = take_below(kDepth, kMaxFrames);
        EXPECT_GT(stack.frames.size(), 25u);
        EXPECT_FALSE(stack.truncated);
        EXPECT_EQ(stack.frames, stack.by_glibc);
    });
}

TEST_P(UnwinderTest, SaysWhenTheStackWentOn)
{
    test::run_in_child([&] {
        open_unwinder(GetParam());
        const Stack whole = take_below(kDepth, kMaxFrames);
        for (std::size_t capacity = 1; capacity < whole.frames.size(); ++capacity) {
            const Stack part = take_below(kDepth, capacity);
            EXPECT_TRUE(part.truncated) << capacity;
            ASSERT_EQ(part.frames.size(), capacity);
            const auto recursive =
                static_cast<std::ptrdiff_t>(std::min(capacity, kDepth)); // then this line
            EXPECT_TRUE(std::equal(part.frames.begin(), part.frames.begin() + recursive,
                                   whole.frames.begin()));
        }
        const Stack exact = take_below(kDepth, whole.frames.size());
        EXPECT_FALSE(exact.truncated);
        EXPECT_EQ(exact.frames.size(), whole.frames.size());
    });
}

TEST_P(UnwinderTest, KeepsAtMostItsMostOfAnEndlessRecursion)
{
    test::run_in_child([&] {
        open_unwinder(GetParam());
        const Stack stack = take_below(1000, kMaxFrames);
        EXPECT_EQ(stack.frames.size(), kMaxFrames);
        EXPECT_TRUE(stack.truncated);
    });
}

TEST_P(UnwinderTest, GivesNothingForACallerThatIsNotThere)
{
    test::run_in_child([&] {
        open_unwinder(GetParam());
        std::uintptr_t frames[kMaxFrames];
        bool truncated = false;
        EXPECT_EQ(unwind(0x1234, frames, kMaxFrames, truncated), 0u);
    });
}

INSTANTIATE_TEST_SUITE_P(By, UnwinderTest, ::testing::Values(Unwinder::libunwind, Unwinder::glibc),
                         [](const auto& chosen) {
                             return format::word_of(kUnwinders, chosen.param);
                         });

TEST(Unwinder, TakesNoStackWhenThereIsToBeNone)
{
    test::run_in_child([] {
        open_unwinder(Unwinder::none);
        EXPECT_EQ(current_unwinder(), Unwinder::none);
        EXPECT_TRUE(take(kMaxFrames).frames.empty());
    });
}

TEST(Unwinder, ChangesToGlibcOnceCodeWasUnloaded)
{
    test::run_in_child([] {
        open_unwinder(Unwinder::libunwind);
        EXPECT_EQ(current_unwinder(), Unwinder::libunwind);
        distrust_libunwind();
        distrust_libunwind();
        EXPECT_EQ(current_unwinder(), Unwinder::glibc);
        const Stack stack = take_below(5, kMaxFrames);
        EXPECT_EQ(stack.frames, stack.by_glibc);
    });
}

TEST(Unwinder, IsNotOpenedByDistrust)
{
    test::run_in_child([] {
        open_unwinder(Unwinder::none);
        distrust_libunwind();
        EXPECT_EQ(current_unwinder(), Unwinder::none);
    });
}

// In the global scope its _Unwind_ functions would take over the program's C++ exceptions.
TEST(Unwinder, KeepsLibunwindOutOfTheProgramsSymbols)
{
    test::run_in_child([] {
        open_unwinder(Unwinder::libunwind);
        EXPECT_EQ(::dlsym(RTLD_DEFAULT, "unw_backtrace"), nullptr);
        EXPECT_NE(::dlopen("libunwind.so.8", RTLD_LAZY | RTLD_NOLOAD), nullptr);
    });
}

namespace {

[[gnu::noinline]] void take_for(void* result)
{
    *static_cast<Stack*>(result) = take(kMaxFrames);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

} // namespace

// libunwind tests memory through a pipe: its numbers must not have become files of the program.
TEST(Unwinder, LeavesFilesAloneThatTookTheNumbersOfItsDescriptors)
{
    const test::TempDir dir;
    test::run_in_child([&] {
        open_unwinder(Unwinder::libunwind);
        ASSERT_EQ(::close_range(3, ~0u, 0), 0);
        std::vector<int> files;
        for (int i = 0; i < 10; ++i) {
            files.push_back(::open(dir.file(std::to_string(i)).c_str(), O_RDWR | O_CREAT, 0600));
            ASSERT_EQ(::write(files.back(), "precious", 8), 8);
            ASSERT_EQ(::lseek(files.back(), 0, SEEK_SET), 0);
        }
        Stack stack;
        test::frame_without_cfi(&take_for, &stack, 0);
        EXPECT_GE(stack.frames.size(), 2u);
        for (const int file : files) {
            EXPECT_EQ(::lseek(file, 0, SEEK_CUR), 0);
            char content[9] = {};
            EXPECT_EQ(::read(file, content, 9), 8);
            EXPECT_STREQ(content, "precious");
        }
    });
}
