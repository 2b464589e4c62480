// tests/report/words/frame_words_test.cpp — a frame in few columns.
#include "report/words/frame_words.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "report/model/call_place.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

Frame hold_at_line_11()
{
    Frame frame;
    frame.function = "hold";
    frame.file = "/home/me/growth-before-python-ends.py";
    frame.line = 11;
    return frame;
}

TEST(FrameWords, TheFilesNameIsShortenedBeforeTheLineIsLost)
{
    const Frame frame = hold_at_line_11();
    EXPECT_EQ(frame_in(frame, 80), "hold growth-before-python-ends.py:11");
    EXPECT_EQ(frame_in(frame, 40), "hold growth-before-python-e...:11");
    for (std::size_t room = 24; room <= 80; ++room) {
        EXPECT_LE(columns(frame_in(frame, room)), room);
        EXPECT_TRUE(frame_in(frame, room).ends_with(":11")) << frame_in(frame, room);
    }
}

TEST(FrameWords, WithoutRoomForALineTheFunctionStays)
{
    EXPECT_EQ(frame_in(hold_at_line_11(), 16), "hold");
}

TEST(FrameWords, InstancesOfTemplatesAreNamedWithoutWhatTheyReturn)
{
    const auto named = [](std::string function) {
        Frame frame;
        frame.function = std::move(function);
        return function_of(frame);
    };
    EXPECT_EQ(named("void grab<int>(int)"), "grab<int>(int)");
    EXPECT_EQ(named("std::vector<int, std::allocator<int> > net::load<float>(char const*)"),
              "net::load<float>(char const*)");
    EXPECT_EQ(named("Tensor<char>::Tensor(unsigned long)"), "Tensor<char>::Tensor(unsigned long)");
    for (const char* const kept :
         {"operator new(unsigned long)", "bool Set<int>::operator< <int>(int) const",
          "backward of Net.forward", "load.<locals>.<lambda>", "main::{lambda(int)#1}::run(int)",
          "gradient of a leaf tensor", "f(std::function<void (int)>)"})
        EXPECT_EQ(named(kept), kept);
}

} // namespace
} // namespace vramscope::report
