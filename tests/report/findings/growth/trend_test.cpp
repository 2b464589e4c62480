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
    // Four values have 24 orders: 1 has no pair out of order, and 3 have one.
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>{1, 2, 4, 3}), 1 - 4.0 / 24);
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>{4, 3, 2, 1}), 0);
}

TEST(Trend, ManyValuesAreExactToo)
{
    EXPECT_DOUBLE_EQ(rising_confidence(steps_of(12)), 1 - 1.0 / 479'001'600);
    std::vector<double> one_off = steps_of(12);
    std::swap(one_off[4], one_off[5]);
    EXPECT_DOUBLE_EQ(rising_confidence(one_off), 1 - 12.0 / 479'001'600);
    std::vector<double> falling = steps_of(kMostRanked);
    std::reverse(falling.begin(), falling.end());
    EXPECT_DOUBLE_EQ(rising_confidence(falling), 0);
}

TEST(Trend, TiesMakeLessSure)
{
    // 1, 1, 2, 2 has six orders: one has no pair out of order, one has one, two have two.
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>{1, 1, 2, 2}), 1 - 1.0 / 6);
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>{1, 2, 1, 2}), 1 - 2.0 / 6);
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>{1, 2, 2, 1}), 1 - 4.0 / 6);
    EXPECT_DOUBLE_EQ(rising_confidence(std::vector<double>(8, 5.0)), 0) << "all equal";
}

TEST(Trend, AgreesWithAllOrdersOneByOne)
{
    std::vector<double> values{1, 2, 2, 3, 3, 3, 4};
    const auto inversions_of = [](const std::vector<double>& order) {
        int inversions = 0;
        for (std::size_t at = 0; at < order.size(); ++at)
            inversions += static_cast<int>(
                std::count_if(order.begin() + static_cast<std::ptrdiff_t>(at), order.end(),
                              [&](double later) { return later < order[at]; }));
        return inversions;
    };
    std::vector<int> all;
    do
        all.push_back(inversions_of(values));
    while (std::next_permutation(values.begin(), values.end()));
    do {
        const auto as_rising = std::count_if(all.begin(), all.end(),
                                             [&](int one) { return one <= inversions_of(values); });
        ASSERT_NEAR(rising_confidence(values),
                    1 - static_cast<double>(as_rising) / static_cast<double>(all.size()), 1e-15);
    } while (std::next_permutation(values.begin(), values.end()));
}

TEST(Trend, MedianSlopeIsOfThePairsAndNotOfTheWildOne)
{
    const std::vector<double> x{0, 1, 2, 3, 4};
    EXPECT_DOUBLE_EQ(slope_of(x, std::vector<double>{1, 3, 5, 7, 9}).median, 2);
    EXPECT_DOUBLE_EQ(slope_of(x, std::vector<double>{1, 3, 500, 7, 9}).median, 2);
    EXPECT_DOUBLE_EQ(slope_of(x, std::vector<double>{0, 0, 0, 0, 100}).median, 0) << "one jump";
    EXPECT_DOUBLE_EQ(slope_of(std::vector<double>{3, 3}, std::vector<double>{0, 1}).median, 0);
    EXPECT_DOUBLE_EQ(slope_of({}, {}).median, 0);
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
