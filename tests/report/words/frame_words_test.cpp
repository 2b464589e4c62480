// tests/report/words/frame_words_test.cpp — a frame in few columns.
#include "report/words/frame_words.hpp"

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

} // namespace
} // namespace vramscope::report
