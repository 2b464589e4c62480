// tests/report/findings/places/frames_test.cpp — hidden frames, and the API that the user called.
#include "report/findings/places/frames.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

Frame module_frame(std::string function, std::string module, std::string file = {})
{
    Frame frame;
    frame.function = std::move(function);
    frame.module = std::move(module);
    frame.file = std::move(file);
    return frame;
}

const Frame kHook = module_frame("cuMemAlloc_v2", "/opt/lib/libvramscope.so");
const Frame kUser = module_frame("Trainer::step(int)", "/home/me/train", "/home/me/train.cu");
const Frame kMain = module_frame("main", "/home/me/train", "/home/me/train.cu");

std::vector<Frame> start_up()
{
    return {module_frame("__libc_start_call_main", "/lib/x86_64-linux-gnu/libc.so.6"),
            module_frame("__libc_start_main_impl", "/lib/x86_64-linux-gnu/libc.so.6"),
            module_frame("_start", "/home/me/train")};
}

std::vector<Frame> stack_of(std::vector<Frame> frames)
{
    for (const Frame& outer : start_up())
        frames.push_back(outer);
    return frames;
}

std::vector<std::string> visible(const std::vector<Frame>& stack)
{
    const FrameRange range = visible_frames(stack);
    std::vector<std::string> names;
    for (std::size_t at = range.begin; at < range.end; ++at)
        names.push_back(stack[at].function);
    return names;
}

using Names = std::vector<std::string>;
const Names kUsersFrames = {"Trainer::step(int)", "main"};

TEST(Frames, DriverCallShowsTheUsersFramesAndItsOwnNameWithoutVersion)
{
    const std::vector<Frame> stack = stack_of({kHook, kUser, kMain});
    EXPECT_EQ(visible(stack), kUsersFrames);
    EXPECT_EQ(user_api(stack, "cuMemAlloc_v2"), "cuMemAlloc");
}

TEST(Frames, SharedRuntimeIsHiddenAndNamesTheApi)
{
    const std::vector<Frame> stack =
        stack_of({kHook, module_frame("", "/usr/lib/libcudart.so.12"),
                  module_frame("", "/usr/lib/libcudart.so.12"),
                  module_frame("cudaMalloc", "/usr/lib/libcudart.so.12"), kUser, kMain});
    EXPECT_EQ(visible(stack), kUsersFrames);
    EXPECT_EQ(user_api(stack, "cuMemAlloc_v2"), "cudaMalloc");
}

TEST(Frames, HeaderWrapperIsPartOfTheRuntime)
{
    const std::vector<Frame> stack =
        stack_of({kHook, module_frame("cudaMalloc", "/usr/lib/libcudart.so.12"),
                  module_frame("cudaError cudaMalloc<float>(float**, unsigned long)",
                               "/home/me/train", "/usr/local/cuda/include/cuda_runtime.h"),
                  kUser, kMain});
    EXPECT_EQ(visible(stack), kUsersFrames);
    EXPECT_EQ(user_api(stack, "cuMemAlloc_v2"), "cudaMalloc");
}

TEST(Frames, StaticRuntimeInTheProgramIsHiddenWhateverItsFramesAreCalled)
{
    const std::vector<Frame> stack =
        stack_of({kHook, module_frame("libcudart_static_0a1b2c", "/home/me/train"),
                  module_frame("", "/home/me/train"),
                  module_frame("allocate_in_pool(unsigned long)", "/home/me/train"),
                  module_frame("cudaMallocAsync_ptsz", "/home/me/train"), kUser, kMain});
    EXPECT_EQ(visible(stack), kUsersFrames);
    EXPECT_EQ(user_api(stack, "cuMemAllocAsync_ptsz"), "cudaMallocAsync");
}

TEST(Frames, DriverThatCallsItselfIsHidden)
{
    const std::vector<Frame> stack = stack_of(
        {kHook, module_frame("cuFoo", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"), kUser, kMain});
    EXPECT_EQ(visible(stack), kUsersFrames);
}

TEST(Frames, UsersFunctionsThatBeginWithCudaStay)
{
    const std::vector<Frame> stack = stack_of(
        {kHook, module_frame("cudaBufferPool::grow(int)", "/home/me/train", "/home/me/pool.cu"),
         module_frame("cudaMallocOrDie(unsigned long)", "/home/me/train", "/home/me/pool.cu"),
         kMain});
    EXPECT_EQ(visible(stack),
              (Names{"cudaBufferPool::grow(int)", "cudaMallocOrDie(unsigned long)", "main"}));
    EXPECT_EQ(user_api(stack, "cuMemAlloc_v2"), "cuMemAlloc");
}

TEST(Frames, RuntimeFramesFartherOutAreTheUsersBusiness)
{
    std::vector<Frame> stack{kHook, kUser};
    for (int deep = 0; deep < 20; ++deep)
        stack.push_back(module_frame("library_code", "/opt/lib/libtorch.so"));
    stack.push_back(module_frame("cudaLaunchHostFunc", "/usr/lib/libcudart.so.12"));
    stack.push_back(kMain);
    EXPECT_EQ(visible(stack).size(), stack.size() - 1);
}

TEST(Frames, StartUpCodeIsHiddenOnlyAtTheOuterEnd)
{
    const std::vector<Frame> stack =
        stack_of({kHook, kUser, module_frame("qsort", "/lib/x86_64-linux-gnu/libc.so.6"), kMain});
    EXPECT_EQ(visible(stack), (Names{"Trainer::step(int)", "qsort", "main"}));
}

TEST(Frames, StartOfAStrippedProgramIsKnownByItsPlace)
{
    const std::vector<Frame> stack{
        kHook, module_frame("", "/home/me/train"), module_frame("", "/home/me/train"),
        module_frame("__libc_start_main", "/lib/x86_64-linux-gnu/libc.so.6"),
        module_frame("", "/home/me/train")};
    EXPECT_EQ(visible(stack), (Names{"", ""}));
}

TEST(Frames, ThreadsBeginBelowTheirFunction)
{
    const std::vector<Frame> stack{kHook, kUser,
                                   module_frame("start_thread", "/lib/x86_64-linux-gnu/libc.so.6"),
                                   module_frame("", "/lib/x86_64-linux-gnu/libc.so.6")};
    EXPECT_EQ(visible(stack), (Names{"Trainer::step(int)"}));
}

TEST(Frames, AllAreShownIfNoneWouldBeLeft)
{
    const std::vector<Frame> stack =
        stack_of({kHook, module_frame("cudaMalloc", "/usr/lib/libcudart.so.12")});
    EXPECT_EQ(visible(stack).size(), stack.size());
    EXPECT_TRUE(visible({}).empty());
}

Frame library(std::string function)
{
    Frame frame = module_frame(std::move(function), "/home/me/train");
    frame.library = true;
    return frame;
}

Names shown(std::vector<Frame> stack, ShownFrames which)
{
    show_only(stack, visible_frames(stack), which);
    Names names;
    for (const Frame& frame : stack)
        names.push_back(frame.function);
    return names;
}

TEST(Frames, OfLibrariesAreFoldedWhereverTheyAre)
{
    const std::vector<Frame> stack =
        stack_of({kHook, library("thrust::malloc()"), library("thrust::vector::vector()"), kUser,
                  library("std::for_each()"),
                  module_frame("main::{lambda()#1}::operator()()", "/home/me/train"),
                  library("std::function::operator()()"), kMain});
    EXPECT_EQ(shown(stack, ShownFrames::own),
              (Names{"Trainer::step(int)", "main::{lambda()#1}::operator()()", "main"}));
    EXPECT_EQ(shown(stack, ShownFrames::visible).size(), 7u);
    EXPECT_EQ(shown(stack, ShownFrames::all).size(), stack.size());
    EXPECT_EQ(innermost_own_frame(stack, visible_frames(stack)), 3u);
}

TEST(Frames, OfLibrariesStayWhereNothingElseIs)
{
    const std::vector<Frame> stack = stack_of({kHook, library("thrust::malloc()")});
    EXPECT_EQ(shown(stack, ShownFrames::own), (Names{"thrust::malloc()"}));
    EXPECT_EQ(innermost_own_frame(stack, visible_frames(stack)), 1u);
}

TEST(Frames, OnlyAVersionIsCutFromAnEntryPointsName)
{
    EXPECT_EQ(user_api({}, "cuMemAlloc_v2"), "cuMemAlloc");
    EXPECT_EQ(user_api({}, "cuMemAllocAsync_ptsz"), "cuMemAllocAsync");
    EXPECT_EQ(user_api({}, "cuMemHostRegister_v2_ptds"), "cuMemHostRegister");
    EXPECT_EQ(user_api({}, "cuMemAllocManaged"), "cuMemAllocManaged");
    EXPECT_EQ(user_api({}, "cu_vector"), "cu_vector");
    EXPECT_EQ(user_api({}, ""), "");
}

TEST(Frames, OneWithoutANameLeavesItToTheNextOfItsModule)
{
    const std::vector<Frame> stack{
        {.function = {}, .file = {}, .module = "/lib/libtorch.so"},
        {.function = {}, .file = {}, .module = "/lib/libtorch.so"},
        {.function = "at::empty()", .file = {}, .module = "/lib/libtorch.so"},
        {.function = "main", .file = {}, .module = "/x/app"}};
    EXPECT_EQ(named_frame(stack, 0), 2u);
    EXPECT_EQ(named_frame(stack, 2), 2u);
    EXPECT_EQ(named_frame({stack[0], stack[3]}, 0), 0u) << "of another module";
    Frame with_line = stack[2];
    with_line.line = 11;
    EXPECT_EQ(named_frame({stack[0], with_line}, 0), 0u) << "its name alone is missing";
}

} // namespace

} // namespace vramscope::report
