// tests/report/replay/growth_test.cpp — floors of made-up sites, against the levels they had.
#include "report/replay/growth.hpp"

#include <algorithm>
#include <deque>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

class GrowthSeriesTest : public testing::Test {
protected:
    Block take(std::uint64_t ticks, std::uint64_t bytes = 1, std::uint64_t stack = 1)
    {
        Block block;
        block.ticks = ticks;
        block.bytes = bytes;
        block.stack = stack;
        block.mortal = true;
        sites.place(block, 0);
        sites.enter(block);
        series.born(block);
        return block;
    }
    void give(const Block& block, std::uint64_t ticks)
    {
        sites.leave(block);
        series.freed(block, ticks);
    }
    // The level of a moment, as the floors have it.
    std::uint64_t bytes_at(std::uint64_t ticks, std::uint64_t end)
    {
        for (const Floor& floor : series.floors(0, end))
            if (ticks <= floor.ticks)
                return floor.bytes;
        return UINT64_MAX;
    }

    Sites sites;
    const format::FileHeader header{};
    GrowthSeries series{sites, WorkEnd(header, TickClock(header))};
};

TEST_F(GrowthSeriesTest, FewEventsAreKeptAsTheyWere)
{
    take(10, 5);
    const Block second = take(20, 7);
    give(second, 30);
    EXPECT_EQ(bytes_at(10, 40), 0u) << "before the first one";
    EXPECT_EQ(bytes_at(20, 40), 5u);
    EXPECT_EQ(bytes_at(30, 40), 12u);
    EXPECT_EQ(bytes_at(40, 40), 5u);
    EXPECT_TRUE(series.floors(0, 40).back().level);
    EXPECT_EQ(series.floors(0, 40).back().ticks, 40u);
}

TEST_F(GrowthSeriesTest, SiteThatIsNotThereHasNoFloors)
{
    EXPECT_TRUE(series.floors(7, 100).empty());
    EXPECT_FALSE(series.one_size(7));
}

TEST_F(GrowthSeriesTest, NeverMoreThanItMayHaveAndNeverAboveTheTruth)
{
    std::deque<Block> alive;
    std::vector<std::uint64_t> truth; // after each tick
    std::uint64_t live = 0;
    for (std::uint64_t tick = 1; tick <= 20'000; ++tick) {
        if (tick % 3 != 0 || alive.empty()) {
            alive.push_back(take(tick, tick % 100));
            live += tick % 100;
        } else {
            live -= alive.front().bytes;
            give(alive.front(), tick);
            alive.pop_front();
        }
        truth.push_back(live);
    }
    const std::vector<Floor> floors = series.floors(0, 20'000);
    EXPECT_LE(floors.size(), kMostFloors + 1);
    EXPECT_GE(floors.size(), kMostFloors / 2);
    std::uint64_t before = 0;
    for (const Floor& floor : floors) {
        EXPECT_GE(floor.ticks, before);
        for (std::uint64_t tick = before + 1; tick < floor.ticks; ++tick)
            ASSERT_LE(floor.bytes, truth[tick - 1]);
        before = floor.ticks;
    }
}

TEST_F(GrowthSeriesTest, TemporariesAreAboveTheFloor)
{
    for (std::uint64_t turn = 0; turn < 1000; ++turn) {
        const Block first = take(turn * 10 + 1, 1000);
        const Block second = take(turn * 10 + 2, 1000);
        give(first, turn * 10 + 3);
        give(second, turn * 10 + 4);
    }
    std::size_t zero = 0;
    for (const Floor& floor : series.floors(0, 10'000))
        zero += floor.bytes == 0;
    EXPECT_GT(zero, kMostFloors / 2);
}

TEST_F(GrowthSeriesTest, ShortLoopBehindManyEventsIsResolved)
{
    std::uint64_t ticks = 0;
    for (int event = 0; event < 100'000; ++event) {
        const Block block = take(ticks += 1);
        give(block, ticks += 1);
    }
    const std::uint64_t loop = ticks;
    for (int turn = 0; turn < 100; ++turn)
        take(ticks += 10'000);
    std::size_t in_the_loop = 0;
    for (const Floor& floor : series.floors(0, ticks))
        in_the_loop += floor.ticks > loop;
    EXPECT_GE(in_the_loop, 16u);
}

TEST_F(GrowthSeriesTest, ManyEventsAfterALongQuietTimeAreResolved)
{
    take(1);
    std::uint64_t ticks = 1'000'000'000;
    for (int turn = 0; turn < 10'000; ++turn)
        take(++ticks);
    std::size_t in_the_loop = 0;
    for (const Floor& floor : series.floors(0, ticks))
        in_the_loop += floor.ticks > 1'000'000'000;
    EXPECT_GE(in_the_loop, 16u);
}

TEST_F(GrowthSeriesTest, ContextTakesItsBlocksDown)
{
    take(10, 5);
    take(20, 5);
    series.context_gone(sites.destroy(0), 30);
    EXPECT_EQ(bytes_at(30, 40), 10u);
    EXPECT_EQ(bytes_at(40, 40), 0u);
}

TEST_F(GrowthSeriesTest, TimesThatStepBackAreAsLateAsTheirRecord)
{
    take(100, 5);
    take(50, 5);
    take(200, 5);
    std::uint64_t before = 0;
    for (const Floor& floor : series.floors(0, 300)) {
        EXPECT_GE(floor.ticks, before);
        before = floor.ticks;
    }
}

TEST_F(GrowthSeriesTest, KnowsWhetherAllAreOfOneSize)
{
    take(1, 8);
    take(2, 8);
    EXPECT_TRUE(series.one_size(0));
    take(3, 9);
    EXPECT_FALSE(series.one_size(0));
    EXPECT_EQ(series.allocations().count(), 3u);
}

} // namespace
} // namespace vramscope::report
