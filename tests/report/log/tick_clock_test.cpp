// tests/report/log/tick_clock_test.cpp — from the log's ticks to nanoseconds.
#include "report/log/tick_clock.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(TickClock, TurnsTimeStampCounterTicksIntoNs)
{
    format::FileHeader header{};
    header.clock = format::Clock::tsc;
    header.start_ticks = 1000;
    header.start_ns = 50;
    header.latest_ticks = 1000 + 3'000'000'000;
    header.latest_ns = 50 + 1'000'000'000;
    const TickClock clock(header);
    EXPECT_EQ(clock.ns(1000), 0u);
    EXPECT_EQ(clock.ns(1000 + 3000), 1000u);
    EXPECT_EQ(clock.ns(0), 0u) << "before the start";
    EXPECT_GT(clock.ns(UINT64_MAX), 0u);
}

TEST(TickClock, FindsTheTicksOfATime)
{
    format::FileHeader header{};
    header.clock = format::Clock::tsc;
    header.start_ticks = 1000;
    header.latest_ticks = 1000 + 3'000'000'000;
    header.latest_ns = 1'000'000'000;
    const TickClock clock(header);
    EXPECT_EQ(clock.ticks_at(0), 1000u);
    EXPECT_NEAR(static_cast<double>(clock.ticks_at(1000)), 4000.0, 1.0);
    EXPECT_EQ(clock.ticks_at(UINT64_MAX), UINT64_MAX);
    header.start_ticks = UINT64_MAX - 10;
    EXPECT_EQ(TickClock(header).ticks_at(1'000'000), UINT64_MAX);
}

TEST(TickClock, UsesTheFarthestPairAndIgnoresDamagedOnes)
{
    format::FileHeader header{};
    header.clock = format::Clock::tsc;
    TickClock clock(header);
    clock.calibrate(2'000'000, 1'000'000);
    EXPECT_EQ(clock.ns(2000), 1000u);
    clock.calibrate(UINT64_MAX, 5);
    EXPECT_EQ(clock.ns(2000), 1000u);
    clock.calibrate(4'000'000'000, 1'000'000'000);
    EXPECT_EQ(clock.ns(4000), 1000u);
}

} // namespace
} // namespace vramscope::report
