// tests/report/words/shares_test.cpp — parts in per cent that add up.
#include "report/words/shares.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

using Texts = std::vector<std::string>;

TEST(Shares, TogetherTheyAreTheWhole)
{
    EXPECT_EQ(shares({1, 1, 1}), (Texts{"33.4 %", "33.3 %", "33.3 %"}));
    EXPECT_EQ(shares({2, 0, 1}), (Texts{"66.7 %", "0.0 %", "33.3 %"}));
    EXPECT_EQ(shares({UINT64_MAX, UINT64_MAX}), (Texts{"50.0 %", "50.0 %"}));
}

TEST(Shares, NothingHasNoParts)
{
    EXPECT_EQ(shares({0, 0}), (Texts{"0.0 %", "0.0 %"}));
    EXPECT_EQ(shares({}), Texts{});
}

} // namespace
} // namespace vramscope::report
