// tests/report/replay/pool/pool_timeline_test.cpp — few points, and every peak.
#include "report/replay/pool/pool_timeline.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(PoolTimeline, KeepsPeaksInABoundedNumberOfPoints)
{
    PoolTimeline timeline;
    for (std::uint64_t at = 0; at < 1'000'000; ++at)
        timeline.add(5000 + at * 37, at == 543'210 ? 999 : at % 7, at % 7, at == 77 ? 500 : 10);
    const auto& points = timeline.points();
    EXPECT_LE(points.size(), PoolTimeline::kMostPoints);
    EXPECT_GE(points.size(), PoolTimeline::kMostPoints / 2);
    EXPECT_EQ(points.front().ticks, 5000u);
    std::uint64_t allocated = 0, reserved = 0;
    for (const PoolPoint& point : points) {
        allocated = std::max(allocated, point.peak_allocated);
        reserved = std::max(reserved, point.peak_reserved);
    }
    EXPECT_EQ(allocated, 999u);
    EXPECT_EQ(reserved, 500u);
    timeline.add(UINT64_MAX, 1, 1, 1);
    timeline.add(0, 2, 2, 2);
    EXPECT_LE(timeline.points().size(), PoolTimeline::kMostPoints);
    EXPECT_EQ(timeline.points().back().allocated, 2u);
}

TEST(PoolTimeline, GivesFewerPointsWithTheSamePeaksLowsAndEnds)
{
    PoolTimeline timeline;
    for (std::uint64_t at = 0; at < 100'000; ++at)
        timeline.add(at * 5000, at == 54'321 ? 999 : at == 60'000 ? 1 : 2 + at % 7, 0, 10);
    const std::vector<PoolPoint> fewer = timeline.points(256);
    EXPECT_LE(fewer.size(), 256u);
    EXPECT_GE(fewer.size(), 128u);
    std::uint64_t peak = 0, least = UINT64_MAX;
    for (const PoolPoint& point : fewer) {
        peak = std::max(peak, point.peak_allocated);
        if (point.ticks > 0) // before the first, nothing was there
            least = std::min(least, point.least_allocated);
    }
    EXPECT_EQ(peak, 999u);
    EXPECT_EQ(least, 1u);
    EXPECT_EQ(fewer.back().allocated, timeline.points().back().allocated);
    EXPECT_EQ(timeline.points(1).size(), 1u);
    EXPECT_TRUE(PoolTimeline().points(256).empty());
}

} // namespace
} // namespace vramscope::report
