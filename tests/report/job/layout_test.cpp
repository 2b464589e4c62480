// tests/report/job/layout_test.cpp — stages, shards and nodes are parts, and what is here and there
// is none.
#include "report/job/layout.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

using Numbers = std::vector<std::uint32_t>;

bool is_part(const Numbers& some, std::uint32_t world = 64, const Numbers& without = {})
{
    Numbers all(world);
    std::iota(all.begin(), all.end(), 0u);
    for (const std::uint32_t gone : without)
        std::erase(all, gone);
    return is_part_of_layout(some, all, world);
}

TEST(Layout, BlocksStridesAndStridesInBlocksAreParts)
{
    EXPECT_TRUE(is_part({56, 57, 58, 59, 60, 61, 62, 63}));
    EXPECT_TRUE(is_part({7, 15, 23, 31, 39, 47, 55, 63}));
    EXPECT_TRUE(is_part({57, 59, 61, 63}));
    EXPECT_TRUE(is_part({7, 15, 23, 31})) << "each eighth of the first half";
    EXPECT_TRUE(is_part({0, 1, 2, 3, 60, 61, 62, 63})) << "the first stage and the last";
    EXPECT_TRUE(is_part({2, 3}));
}

TEST(Layout, OneRankAndWhatIsHereAndThereAreNone)
{
    EXPECT_FALSE(is_part({7}));
    EXPECT_FALSE(is_part({2, 9}));
    EXPECT_FALSE(is_part({3, 4})) << "not of one pair";
    EXPECT_FALSE(is_part({7, 15, 23, 39})) << "not all of those that are eighth";
    EXPECT_FALSE(is_part({1, 2, 3, 4, 5, 6, 7}));
}

TEST(Layout, ARankThatIsMissingBreaksNoPartAndMakesNone)
{
    EXPECT_TRUE(is_part({56, 57, 58, 60, 61, 62, 63}, 64, {59}));
    EXPECT_FALSE(is_part({2, 9}, 64, {3, 8}));
}

} // namespace
} // namespace vramscope::report
