// tests/report/findings/growth/trend_test.cpp — the statistics against known values.
//
// The values were worked out by hand, or are in textbooks.
#include "report/findings/growth/trend.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

std::vector<double> steps_of(std::size_t count)
{
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

TEST(Trend, FewRisingValuesAreAsSureAsTheirOrdersAreMany)
{
    EXPECT_DOUBLE_EQ(rising_confidence({}), 0);
    EXPECT_DOUBLE_EQ(rising_confidence(steps_of(1)), 0);
    EXPECT_DOUBLE_EQ(rising_confidence(steps_of(2)), 1 - 1.0 / 2);
    EXPECT_DOUBLE_EQ(rising_confidence(steps_of(3)), 1 - 1.0 / 6);
    EXPECT_DOUBLE_EQ(rising_confidence(steps_of(4)), 1 - 1.0 / 24);
    EXPECT_DOUBLE_EQ(rising_confidence(steps_of(5)), 1 - 1.0 / 120);
}

TEST(Trend, ExactChanceCountsAllOrdersThatRiseAsMuch)
{
    // Of the 24 orders of four values, 1 has no pair out of order and 3 have one.
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>{1, 2, 4, 3}), 1 - 4.0 / 24);
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>{4, 3, 2, 1}), 0);
}

TEST(Trend, ManyValuesAreNormal)
{
    // S = 66 of 12 values: z = 65 / sqrt(12 * 11 * 29 / 18) = 4.4573.
    EXPECT_NEAR(rising_confidence(steps_of(12)), 1 - 4.15e-6, 1e-7);
    std::vector<double> falling = steps_of(12);
    std::reverse(falling.begin(), falling.end());
    EXPECT_DOUBLE_EQ(rising_confidence(falling), 0);
}

TEST(Trend, TiesMakeLessSure)
{
    // S = 4, variance (4 * 3 * 13 - 2 * (2 * 1 * 9)) / 18 = 120 / 18: z = 3 / 2.582 = 1.1619.
    EXPECT_NEAR(rising_confidence(std::vector<double>{1, 1, 2, 2}), 0.87736, 1e-4);
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>(8, 5.0)), 0) << "all equal";
}

TEST(Trend, MedianSlopeIsOfThePairsAndNotOfTheWildOne)
{
    const std::vector<double> x{0, 1, 2, 3, 4};
    EXPECT_DOUBLE_EQ(median_slope(x, std::vector<double>{1, 3, 5, 7, 9}), 2);
    EXPECT_DOUBLE_EQ(median_slope(x, std::vector<double>{1, 3, 500, 7, 9}), 2);
    EXPECT_DOUBLE_EQ(median_slope(x, std::vector<double>{0, 0, 0, 0, 100}), 0) << "one jump";
    EXPECT_DOUBLE_EQ(median_slope(std::vector<double>{3, 3}, std::vector<double>{0, 1}), 0);
    EXPECT_DOUBLE_EQ(median_slope({}, {}), 0);
}

TEST(Trend, LastingIsWhatIsNeverBelowAgain)
{
    EXPECT_EQ(lasting(std::vector<double>{0, 5, 1, 7, 3, 4}),
              (std::vector<double>{0, 1, 1, 3, 3, 4}));
    EXPECT_TRUE(lasting({}).empty());
}

TEST(Trend, DeepestFallIsFromAnyHeight)
{
    EXPECT_DOUBLE_EQ(deepest_fall(std::vector<double>{0, 5, 1, 7, 6, 2, 9}), 5);
    EXPECT_DOUBLE_EQ(deepest_fall(steps_of(5)), 0);
}

TEST(Trend, RisesAreCountedAsOrders)
{
    EXPECT_DOUBLE_EQ(confidence_of_rises(0), 0);
    EXPECT_DOUBLE_EQ(confidence_of_rises(3), 1 - 1.0 / 6);
    EXPECT_DOUBLE_EQ(confidence_of_rises(4), 1 - 1.0 / 24);
    EXPECT_GT(confidence_of_rises(1'000'000), 0.999);
}

} // namespace
} // namespace vramscope::report
