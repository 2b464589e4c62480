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

} // namespace
} // namespace vramscope::report
