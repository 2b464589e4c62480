// tests/report/findings/growth/growth_rule_test.cpp — the rule on given series.
//
// The sum of places is tested here too.
#include "report/findings/growth/growth_rule.hpp"

#include <gtest/gtest.h>

#include "tracker/format/layout.hpp"

namespace vramscope::report {
namespace {

// Floors at ticks 10, 20, … of blocks of one byte, one event each.
PlaceSeries place_of(const std::vector<std::uint64_t>& levels)
{
    PlaceSeries place;
    std::uint64_t ticks = 0;
    for (const std::uint64_t level : levels)
        place.floors.push_back({.ticks = ticks += 10,
                                .bytes = level,
                                .blocks = static_cast<std::uint32_t>(level),
                                .events = 1});
    place.allocations = levels.size();
    place.first_ticks = 10;
    place.last_ticks = ticks;
    return place;
}

class GrowthRule : public testing::Test {
protected:
    GrowthRule()
    {
        steps.begin(0);
        for (std::uint64_t step = 1; step <= 40; ++step)
            steps.add(step * 10);
        for (std::uint64_t call = 1; call <= 400; ++call)
            allocations.add(call);
    }
    GrowthFinding judge(const std::vector<std::uint64_t>& levels) const
    {
        return judge_growth(place_of(levels), context);
    }
    static std::vector<std::uint64_t> levels(std::uint64_t (*level)(std::uint64_t step))
    {
        std::vector<std::uint64_t> all;
        for (std::uint64_t step = 0; step < 40; ++step)
            all.push_back(level(step));
        return all;
    }

    StepCounter steps;
    StepCounter allocations;
    TickClock clock{format::FileHeader{}};
    GrowthContext context{&steps, allocations, clock, 0, 400};
};

TEST_F(GrowthRule, StraightRiseGrows)
{
    const GrowthFinding finding = judge(levels([](std::uint64_t step) { return 3 * step; }));
    EXPECT_TRUE(finding.growing);
    EXPECT_NEAR(finding.rate.bytes_per_step, 3, 1e-9);
    EXPECT_EQ(finding.rate.steps, 32u);
    EXPECT_FALSE(finding.bounded);
}

TEST_F(GrowthRule, LevelIsBounded)
{
    PlaceSeries place = place_of(levels([](std::uint64_t) { return std::uint64_t{7}; }));
    EXPECT_FALSE(judge_growth(place, context).bounded) << "nothing was given back";
    place.allocations = 20; // the other 20 of 40 events are frees
    const GrowthFinding finding = judge_growth(place, context);
    EXPECT_FALSE(finding.growing);
    EXPECT_TRUE(finding.bounded);
    EXPECT_EQ(finding.rises, 0u);
}

TEST_F(GrowthRule, OneJumpDoesNotGrow)
{
    EXPECT_FALSE(judge(levels([](std::uint64_t step) {
                     return step < 35 ? std::uint64_t{5} : std::uint64_t{500};
                 })).growing);
}

TEST_F(GrowthRule, JumpAmongSmallRisesDoesNotGrow)
{
    EXPECT_FALSE(judge(levels([](std::uint64_t step) {
                     return step + (step < 25 ? std::uint64_t{0} : std::uint64_t{500});
                 })).growing);
}

TEST_F(GrowthRule, RiseThatSlowsDownDoesNotGrow)
{
    EXPECT_FALSE(
        judge(levels([](std::uint64_t step) { return 1000 - 40'000 / (step + 40); })).growing ||
        judge(levels([](std::uint64_t step) { return 1000 - 1000 / (step + 1); })).growing);
}

TEST_F(GrowthRule, RiseThatFallsBackByMuchDoesNotGrow)
{
    EXPECT_FALSE(judge(levels([](std::uint64_t step) { return step + step % 8 * 4; })).growing);
}

TEST_F(GrowthRule, FallsThatAreSmallBesideItAreNoise)
{
    EXPECT_TRUE(judge(levels([](std::uint64_t step) { return 10 * step + step % 3; })).growing);
}

TEST_F(GrowthRule, WarmUpIsNotLookedAt)
{
    const GrowthFinding finding =
        judge(levels([](std::uint64_t step) { return std::min<std::uint64_t>(step, 8) * 100; }));
    EXPECT_EQ(finding.rises, 0u);
    EXPECT_EQ(finding.rate.confidence, 0);
}

TEST_F(GrowthRule, WhatHasNoBytesIsCounted)
{
    PlaceSeries place = place_of(levels([](std::uint64_t step) { return step; }));
    for (Floor& floor : place.floors)
        floor.bytes = 0;
    const GrowthFinding finding = judge_growth(place, context);
    EXPECT_TRUE(finding.growing);
    EXPECT_EQ(finding.bytes, 0u);
    EXPECT_NEAR(finding.rate.blocks_per_step, 1, 1e-9);
}

TEST_F(GrowthRule, WhatIsFreedBehindTheLastStepIsNotSeen)
{
    PlaceSeries place = place_of(levels([](std::uint64_t step) { return step; }));
    place.floors.push_back({.ticks = 450, .bytes = 0, .blocks = 0, .events = 40});
    EXPECT_TRUE(judge_growth(place, context).growing);
}

TEST_F(GrowthRule, WhatTheWorkFreesBehindItsStepsDidNotGrow)
{
    const auto grows_if_left = [&](std::uint64_t bytes, std::uint64_t end_ticks, bool level,
                                   std::uint64_t frees = 40) {
        PlaceSeries place = place_of(levels([](std::uint64_t step) { return step; }));
        place.frees_later = frees;
        place.floors.push_back({.ticks = 450,
                                .bytes = bytes,
                                .blocks = static_cast<std::uint32_t>(bytes),
                                .events = 40,
                                .level = level});
        const GrowthContext longer{&steps, allocations, clock, 0, end_ticks};
        return judge_growth(place, longer).growing;
    };
    EXPECT_FALSE(grows_if_left(0, 600, false));
    EXPECT_FALSE(grows_if_left(1, 600, false)) << "one block that is left is no growth";
    EXPECT_TRUE(grows_if_left(30, 600, false)) << "most of it stays";
    EXPECT_TRUE(grows_if_left(0, 400, false)) << "the end of the program freed it";
    EXPECT_TRUE(grows_if_left(0, 440, false)) << "it may have been freed behind the work";
    EXPECT_FALSE(grows_if_left(0, 440, true)) << "it was so all the time";
    EXPECT_TRUE(grows_if_left(0, 600, false, 0)) << "it went with its context";
}

TEST_F(GrowthRule, EmptySeriesIsNothing)
{
    EXPECT_FALSE(judge({}).growing);
    EXPECT_FALSE(judge({}).bounded);
    EXPECT_FALSE(may_grow(place_of({}), context));
    EXPECT_FALSE(judge({1}).growing);
}

TEST_F(GrowthRule, PlacesAreAddedMomentByMoment)
{
    const PlaceSeries sum = sum_of({place_of({0, 1, 2, 3}), place_of({5, 5})});
    ASSERT_EQ(sum.floors.size(), 4u);
    EXPECT_EQ(sum.floors[0].bytes, 5u);
    EXPECT_EQ(sum.floors[1].bytes, 6u);
    EXPECT_EQ(sum.floors[3].bytes, 3u) << "the second one says no more";
    EXPECT_EQ(sum.floors[0].events, 2u);
    EXPECT_EQ(sum.allocations, 6u);
    EXPECT_EQ(sum.last_ticks, 40u);
}

TEST_F(GrowthRule, SumOfManyPlacesStaysShortAndBelowTheTruth)
{
    std::vector<PlaceSeries> places;
    for (std::uint64_t place = 0; place < 50; ++place) {
        places.push_back(place_of(levels([](std::uint64_t step) { return step; })));
        for (Floor& floor : places.back().floors)
            floor.ticks += place % 10;
    }
    const PlaceSeries sum = sum_of(places);
    EXPECT_LE(sum.floors.size(), kMostFloors);
    for (const Floor& floor : sum.floors)
        EXPECT_LE(floor.bytes, 50 * (floor.ticks / 10)) << floor.ticks;
    EXPECT_TRUE(judge_growth(sum, context).growing);
}

TEST_F(GrowthRule, StartUpIsBeforeTheSteps)
{
    EXPECT_TRUE(is_start_up(5, true, context));
    EXPECT_TRUE(is_start_up(10, true, context));
    EXPECT_FALSE(is_start_up(50, true, context)) << "one block of a later step";
    EXPECT_TRUE(is_start_up(80, false, context)) << "in the warm-up";
    EXPECT_FALSE(is_start_up(120, false, context));
}

} // namespace
} // namespace vramscope::report
