// tests/report/page/thin_test.cpp — fewer points, and no peak and no low lost.
#include "report/page/thin.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

MemoryTime point(std::uint64_t ns, std::uint64_t allocated)
{
    MemoryTime time;
    time.ns = ns;
    time.allocated = time.active = time.reserved = allocated;
    time.peak_allocated = time.peak_reserved = time.least_allocated = allocated;
    return time;
}

TEST(ThinnedTimeline, KeepsTheExactPeakTheLowAndTheEnd)
{
    std::vector<MemoryTime> times;
    for (std::uint64_t at = 0; at < 10'000; ++at)
        times.push_back(point(7 + at * 13, at == 4321 ? 999 : at == 6789 ? 3 : 100 + at % 5));
    times[1234].used = 5000;
    const std::vector<MemoryTime> fewer = thinned(times, 100);
    EXPECT_LE(fewer.size(), 100u);
    EXPECT_GE(fewer.size(), 50u);
    std::uint64_t peak = 0, reserved = 0, least = UINT64_MAX, used = 0;
    for (const MemoryTime& time : fewer) {
        peak = std::max(peak, time.peak_allocated);
        reserved = std::max(reserved, time.peak_reserved);
        least = std::min(least, time.least_allocated);
        used = std::max(used, time.used.value_or(0));
    }
    EXPECT_EQ(peak, 999u);
    EXPECT_EQ(reserved, 999u);
    EXPECT_EQ(least, 3u);
    EXPECT_EQ(used, 5000u);
    EXPECT_EQ(fewer.front().ns, times.front().ns);
    EXPECT_EQ(fewer.back().allocated, times.back().allocated);
    EXPECT_TRUE(std::is_sorted(fewer.begin(), fewer.end(),
                               [](const auto& a, const auto& b) { return a.ns < b.ns; }));
}

TEST(ThinnedTimeline, GivesABurstOnlyTheRoomOfItsTime)
{
    std::vector<MemoryTime> times;
    for (std::uint64_t at = 0; at < 1000; ++at)
        times.push_back(point(at, at));
    for (std::uint64_t at = 1; at <= 10; ++at)
        times.push_back(point(at * 100'000, 5));
    const std::vector<MemoryTime> fewer = thinned(times, 20);
    EXPECT_EQ(fewer.size(), 11u); // the burst is one, each quiet time has its own
    EXPECT_EQ(fewer.front().peak_allocated, 999u);
}

TEST(ThinnedTimeline, LeavesAShortOneAsItIs)
{
    EXPECT_TRUE(thinned({}, 10).empty());
    EXPECT_EQ(thinned({point(1, 2), point(3, 4)}, 2).size(), 2u);
    EXPECT_EQ(thinned({point(1, 2), point(3, 9), point(4, 4)}, 1).front().peak_allocated, 9u);
}

} // namespace
} // namespace vramscope::report
