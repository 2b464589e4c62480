// tests/report/findings/places/fingerprint_test.cpp — what keeps or changes a fingerprint.
#include "report/findings/places/fingerprint.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "report/findings/places/frames.hpp"

namespace vramscope::report {
namespace {

Frame line_frame(const char* function, int line, int function_line, const char* file = "/src/a.cu")
{
    Frame frame;
    frame.function = function;
    frame.file = file;
    frame.line = line;
    frame.function_line = function_line;
    frame.module = "/build/one/app";
    frame.offset = 0x1234;
    return frame;
}

std::vector<Frame> stack()
{
    return {line_frame("load(Set&)", 12, 10), line_frame("train(int)", 40, 30),
            line_frame("main", 60, 50)};
}

std::string of(const std::vector<Frame>& frames, const char* api = "cudaMalloc")
{
    return fingerprint(api, named_frames(frames, {0, frames.size()}));
}

TEST(Fingerprint, IsTheSameForEver) // baselines hold it
{
    EXPECT_EQ(of(stack()), "b81d86084155dd60");
}

TEST(Fingerprint, KeepsWhenOtherFunctionsMove)
{
    std::vector<Frame> moved = stack();
    moved[0].line += 7; // something before load() grew
    moved[0].function_line += 7;
    moved[1].line += 9; // train() itself grew
    moved[2].line += 1;
    EXPECT_EQ(of(moved), of(stack()));
}

TEST(Fingerprint, KeepsInAnotherBuildFolderAndAtOtherAddresses)
{
    std::vector<Frame> moved = stack();
    for (Frame& frame : moved) {
        frame.file = "/home/ci/7/src/a.cu";
        frame.module = "/home/ci/7/bin/app.new";
        frame.offset += 0x40;
    }
    EXPECT_EQ(of(moved), of(stack()));
}

TEST(Fingerprint, KeepsWhateverTheCompilerCloned)
{
    std::vector<Frame> cloned = stack();
    cloned[0].function = "load(Set &) [clone .isra.0]";
    cloned[1].function = "train[abi:cxx11](int)";
    EXPECT_EQ(of(cloned), of(stack()));
}

TEST(Fingerprint, KeepsWhereANameIsToldInFullByNow)
{
    std::vector<Frame> before = stack();
    before[1].function = "operator()";
    std::vector<Frame> now = before;
    now[1].function = "train(int)::{lambda}::operator()(int) const";
    now[1].short_name = "operator()";
    EXPECT_EQ(of(now), of(before));
}

TEST(Fingerprint, KeepsHoweverDeepARecursionWas)
{
    std::vector<Frame> once = {line_frame("leaf()", 2, 1), line_frame("even(int)", 5, 4),
                               line_frame("odd(int)", 9, 8), line_frame("main", 60, 50)};
    std::vector<Frame> deep = once;
    deep.insert(deep.begin() + 3, {line_frame("even(int)", 5, 4), line_frame("odd(int)", 9, 8)});
    EXPECT_EQ(of(deep), of(once));
}

TEST(Fingerprint, ChangesWithTheCallTheFunctionsAndTheApi)
{
    std::vector<Frame> other_line = stack();
    other_line[0].line += 1;
    EXPECT_NE(of(other_line), of(stack()));
    std::vector<Frame> other_caller = stack();
    other_caller[1].function = "evaluate(int)";
    EXPECT_NE(of(other_caller), of(stack()));
    EXPECT_NE(of(stack(), "cudaMallocAsync"), of(stack()));
}

TEST(Fingerprint, OfNamelessFramesIsTheirPlaceInTheModule)
{
    std::vector<Frame> nameless = stack();
    for (Frame& frame : nameless)
        frame.function.clear();
    std::vector<Frame> elsewhere = nameless;
    elsewhere[0].offset += 1;
    EXPECT_NE(of(elsewhere), of(nameless));
    std::vector<Frame> newer = nameless;
    for (Frame& frame : newer)
        frame.module = "/other/app";
    EXPECT_EQ(of(newer), of(nameless));
}

} // namespace
} // namespace vramscope::report
