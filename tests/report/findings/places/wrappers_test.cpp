// tests/report/findings/places/wrappers_test.cpp — which functions allocate for others.
#include "report/findings/places/wrappers.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

using namespace vramscope::report;

namespace {

Frame frame(std::string function, int line = 1, std::string file = "app.cpp")
{
    return {
        .function = std::move(function), .file = std::move(file), .line = line, .module = "app"};
}

CallPlace stack(std::vector<Frame> frames)
{
    frames.push_back(frame("main"));
    CallPlace place;
    place.stack = std::move(frames);
    return place;
}

// The function that each stack is named by.
std::vector<std::string> named(const std::vector<CallPlace>& stacks)
{
    Wrappers wrappers;
    for (const CallPlace& place : stacks)
        wrappers.see(place);
    wrappers.judge();
    std::vector<std::string> functions;
    for (const CallPlace& place : stacks)
        functions.push_back(place.stack[wrappers.own_frame(place)].function);
    return functions;
}

using Names = std::vector<std::string>;

} // namespace

TEST(Wrappers, AreCalledByThreeFunctions)
{
    EXPECT_EQ(named({stack({frame("grab()"), frame("a()")}), stack({frame("grab()"), frame("b()")}),
                     stack({frame("grab()"), frame("c()")})}),
              (Names{"a()", "b()", "c()"}));
    EXPECT_EQ(
        named({stack({frame("grab()"), frame("a()")}), stack({frame("grab()"), frame("a()", 2)}),
               stack({frame("grab()"), frame("b()")})}),
        (Names{"grab()", "grab()", "grab()"}));
}

TEST(Wrappers, InstancesOfATemplateAreOne)
{
    EXPECT_EQ(named({stack({frame("Tensor<char>::Tensor(int)"), frame("a()")}),
                     stack({frame("Tensor<float>::Tensor(int)"), frame("b()")}),
                     stack({frame("Tensor<std::pair<int, int>>::Tensor(int)"), frame("c()")})}),
              (Names{"a()", "b()", "c()"}));
}

TEST(Wrappers, FunctionsOfOneNameInOtherFilesAreOthers)
{
    EXPECT_EQ(named({stack({frame("grab()", 1, "x.cpp"), frame("a()")}),
                     stack({frame("grab()", 1, "y.cpp"), frame("b()")}),
                     stack({frame("grab()", 1, "z.cpp"), frame("c()")})}),
              (Names{"grab()", "grab()", "grab()"}));
}

TEST(Wrappers, AllocateInALineOrTwo)
{
    const auto with_lines = [](int lines) {
        std::vector<CallPlace> stacks;
        for (int at = 0; at < 6; ++at)
            stacks.push_back(stack({frame("block()", at % lines),
                                    frame(std::string(1, static_cast<char>('a' + at)))}));
        return named(stacks).front();
    };
    EXPECT_EQ(with_lines(2), "a");
    EXPECT_EQ(with_lines(3), "block()");
}

TEST(Wrappers, OfWrappersAreFoldedToo)
{
    const auto through = [](const std::string& caller) {
        return stack({frame("allocate()"), frame("Buffer::Buffer()"), frame(caller)});
    };
    EXPECT_EQ(named({through("a()"), through("b()"), through("c()")}),
              (Names{"a()", "b()", "c()"}));
    // Two classes and a function that allocate by one function.
    std::vector<CallPlace> stacks;
    for (const char* const wrapper : {"Buffer()", "Array()"})
        for (const char* const caller : {"a()", "b()", "c()"})
            stacks.push_back(stack({frame("allocate()"), frame(wrapper), frame(caller)}));
    stacks.push_back(stack({frame("allocate()"), frame("load()")}));
    EXPECT_EQ(named(stacks), (Names{"a()", "b()", "c()", "a()", "b()", "c()", "load()"}));
}

TEST(Wrappers, FramesOfLibrariesAreLookedThrough)
{
    const auto made = [](const std::string& caller) {
        Frame library = frame("std::make_unique<Tensor>()");
        library.library = true;
        return stack({frame("Tensor::Tensor()"), library, frame(caller)});
    };
    EXPECT_EQ(named({made("a()"), made("b()"), made("c()")}), (Names{"a()", "b()", "c()"}));
}

TEST(Wrappers, KeepTheirLineWhereTheCallerHasNone)
{
    const CallPlace by_driver = stack({frame("grab()"), frame("run_test()", 0)});
    EXPECT_EQ(named({stack({frame("grab()"), frame("a()")}), stack({frame("grab()"), frame("b()")}),
                     stack({frame("grab()"), frame("c()")}), by_driver}),
              (Names{"a()", "b()", "c()", "grab()"}));
    EXPECT_EQ(named({stack({frame("grab()"), frame("a()")}), stack({frame("grab()"), frame("b()")}),
                     by_driver}),
              (Names{"grab()", "grab()", "grab()"}));
}

TEST(Wrappers, WhatTheUserNamesIsFoldedWhoeverCallsIt)
{
    const CallPlace place =
        stack({frame("Pool::take(int)"), frame("detail::grab()"), frame("a()")});
    EXPECT_EQ(place.stack[Wrappers({"^Pool::", "grab"}).own_frame(place)].function, "a()");
    EXPECT_EQ(place.stack[Wrappers({"^Pool::"}).own_frame(place)].function, "detail::grab()");
    EXPECT_EQ(place.stack[Wrappers({"take$"}).own_frame(place)].function, "Pool::take(int)");
}

TEST(Wrappers, WhatHasNoNameIsNone)
{
    EXPECT_EQ(named({stack({frame(""), frame("a()")}), stack({frame(""), frame("b()")}),
                     stack({frame(""), frame("c()")})}),
              (Names{"", "", ""}));
}

TEST(Wrappers, RecursionIsNoCaller)
{
    EXPECT_EQ(named({stack({frame("visit()"), frame("visit()"), frame("a()")}),
                     stack({frame("visit()"), frame("b()")}),
                     stack({frame("visit()"), frame("visit()")})}),
              (Names{"visit()", "visit()", "visit()"}));
}
