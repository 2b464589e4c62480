// tests/report/plan/start_places_test.cpp — what lies after a block tells where it ends.
#include "report/plan/trace/start_places.hpp"

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"

using namespace vramscope::report::plan;
using vramscope::test::operator""_MiB;

namespace {

constexpr std::uint64_t kSegment = 0x7000'0000;

std::vector<StartSegment> one_block_of_4_mib()
{
    return {{.address = kSegment,
             .bytes = 20_MiB,
             .blocks = {{.block = 0, .offset = 2_MiB, .bytes = 4_MiB}}}};
}

// The place that is told when something is allocated so far after the block's begin.
std::uint64_t told_by(std::uint64_t distance)
{
    std::vector<StartSegment> start = one_block_of_4_mib();
    StartPlaces places;
    places.begin(start);
    places.born(kSegment + 2_MiB + distance);
    return start[0].blocks[0].place_bytes;
}

} // namespace

TEST(StartPlaces, TheNextBlockBeginsWhereAPlaceEnds)
{
    EXPECT_EQ(told_by(4_MiB), 4_MiB);
    EXPECT_EQ(told_by(4_MiB + 983040), 4_MiB + 983040);
}

TEST(StartPlaces, ARestOfMoreThanOneMebibyteIsAPieceThatSomethingElseHad)
{
    EXPECT_EQ(told_by(6_MiB), 0u);
}

TEST(StartPlaces, AnotherSegmentTellsNothing)
{
    std::vector<StartSegment> start = {
        {.address = kSegment,
         .bytes = 4_MiB,
         .blocks = {{.block = 0, .offset = 0, .bytes = 4_MiB - 512}}}};
    StartPlaces places;
    places.begin(start);
    places.born(kSegment + 4_MiB);
    EXPECT_EQ(start[0].blocks[0].place_bytes, 0u);
}

TEST(StartPlaces, ABlockThatIsGoneIsNotLookedAt)
{
    std::vector<StartSegment> start = one_block_of_4_mib();
    StartPlaces places;
    places.begin(start);
    places.gone(kSegment + 2_MiB);
    places.born(kSegment + 6_MiB);
    EXPECT_EQ(start[0].blocks[0].place_bytes, 0u);
}

TEST(StartPlaces, OnlyTheBlockRightBeforeItIsMeant)
{
    std::vector<StartSegment> start = one_block_of_4_mib();
    StartPlaces places;
    places.begin(start);
    places.born(kSegment + 6_MiB);
    places.born(kSegment + 6_MiB + 524288);
    EXPECT_EQ(start[0].blocks[0].place_bytes, 4_MiB);
}
