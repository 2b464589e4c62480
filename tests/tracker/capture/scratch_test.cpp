// tests/tracker/capture/scratch_test.cpp — room that is kept, and careful reads of several pieces.
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/careful_read.hpp"

namespace vramscope::capture {
namespace {

struct Room {
    char text[10'000];
};

TEST(KeptScratch, ServesTheNextOne)
{
    const Room* first = nullptr;
    {
        const KeptScratch<Room> room;
        ASSERT_TRUE(room);
        first = &*room;
        room->text[0] = 1;
    }
    const KeptScratch<Room> again;
    EXPECT_EQ(&*again, first);
}

TEST(KeptScratch, TwoAtOnceHaveRoomOfTheirOwn)
{
    const Room* kept = nullptr;
    {
        const KeptScratch<Room> one;
        const KeptScratch<Room> two;
        ASSERT_TRUE(one && two);
        EXPECT_NE(&*one, &*two);
        std::memset(one->text, 1, sizeof one->text);
        std::memset(two->text, 2, sizeof two->text);
        EXPECT_EQ(one->text[9'999], 1);
        kept = &*two; // it goes first
    }
    const KeptScratch<Room> next;
    EXPECT_EQ(&*next, kept);
}

TEST(ReadCarefully, PiecesAreAllReadOrNone)
{
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const gone = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(gone, MAP_FAILED);
    const char from[] = "pieces";
    char first[2] = {};
    char last[3] = {};
    const auto address = reinterpret_cast<std::uintptr_t>(&from);
    const Piece there[] = {{address, first, 2}, {address + 3, last, 3}};
    EXPECT_TRUE(read_carefully(there));
    EXPECT_EQ(std::string(first, 2) + std::string(last, 3), "pices");
    for (const bool is_first : {true, false}) {
        Piece pieces[] = {there[0], there[1]};
        pieces[is_first ? 0 : 1].from = reinterpret_cast<std::uintptr_t>(gone);
        EXPECT_FALSE(read_carefully(pieces));
    }
    ::munmap(gone, page);
}

} // namespace
} // namespace vramscope::capture
