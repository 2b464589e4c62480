// tests/report/symbols/symbolizer_ranges_test.cpp — RangeIndex, held to its definition.
#include "report/symbols/symbolizer_ranges.hpp"

#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(RangeIndex, AnEmptyOneFindsNothing)
{
    RangeIndex index;
    index.build();
    EXPECT_EQ(index.find(0), std::nullopt);
    EXPECT_EQ(index.find(UINT64_MAX), std::nullopt);
}

TEST(RangeIndex, TheEndIsNotPartOfARange)
{
    RangeIndex index;
    index.add(10, 20, 7);
    index.build();
    EXPECT_EQ(index.find(9), std::nullopt);
    EXPECT_EQ(index.find(10), 7u);
    EXPECT_EQ(index.find(19), 7u);
    EXPECT_EQ(index.find(20), std::nullopt);
}

TEST(RangeIndex, TheOuterRangeGoesOnAfterTheInnerOneEnds)
{
    RangeIndex index;
    index.add(10, 50, 1);
    index.add(20, 30, 2);
    index.build();
    EXPECT_EQ(index.find(15), 1u);
    EXPECT_EQ(index.find(25), 2u);
    EXPECT_EQ(index.find(30), 1u);
}

TEST(RangeIndex, IgnoresEmptyAndReversedRanges)
{
    RangeIndex index;
    index.add(10, 10, 1);
    index.add(30, 20, 2);
    index.build();
    EXPECT_EQ(index.find(10), std::nullopt);
    EXPECT_EQ(index.find(25), std::nullopt);
}

TEST(RangeIndex, ReachesToTheLastAddress)
{
    RangeIndex index;
    index.add(UINT64_MAX - 1, UINT64_MAX, 3);
    index.build();
    EXPECT_EQ(index.find(UINT64_MAX - 1), 3u);
    EXPECT_EQ(index.find(UINT64_MAX), std::nullopt);
}

TEST(RangeIndex, AnswersWithTheLastAddedOfAnyOverlappingRanges)
{
    constexpr std::uint64_t kAddresses = 64;
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        RangeIndex index;
        std::optional<std::uint32_t> expected[kAddresses];
        for (std::uint32_t value = 0; value < 20; ++value) {
            const std::uint64_t low = random() % kAddresses;
            const std::uint64_t high = random() % kAddresses;
            index.add(low, high, value);
            for (auto at = low; at < high; ++at)
                expected[at] = value;
        }
        index.build();
        for (std::uint64_t at = 0; at < kAddresses; ++at)
            ASSERT_EQ(index.find(at), expected[at]) << "address " << at << ", seed " << seed;
    }
}

} // namespace
} // namespace vramscope::report
