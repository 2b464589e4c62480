// tests/report/replay/span_lives_test.cpp — sums by the spans in which blocks came and left.
#include "report/replay/span_lives.hpp"

#include <ostream>
#include <tuple>

#include <gtest/gtest.h>

namespace vramscope::report {

bool operator==(const SpanLife& a, const SpanLife& b)
{
    return std::tie(a.born, a.left, a.blocks, a.bytes) ==
           std::tie(b.born, b.left, b.blocks, b.bytes);
}

void PrintTo(const SpanLife& life, std::ostream* out)
{
    *out << life.born << " to " << life.left << ": " << life.blocks << " of " << life.bytes;
}

namespace {

using All = std::vector<SpanLife>;
constexpr std::uint32_t kAlive = SpanLife::kAlive;

TEST(SpanLives, AreByTheSpansInWhichBlocksCameAndLeft)
{
    SpanLives lives;
    lives.born(3, {0, 1}, 10);
    lives.born(3, {1, 2}, 20);
    lives.born(3, {1, 2}, 30);
    lives.left(3, {1, 2}, 2, 20);
    lives.left(3, {0, 1}, 4, 10);
    const All all{{1, 1, 1, 20}, {0, 2, 1, 10}, {1, kAlive, 1, 30}};
    EXPECT_EQ(lives.of(3, {1, 2, 4}), all);
    EXPECT_EQ(lives.sums(), 3u);
    EXPECT_TRUE(lives.of(2, {1, 2, 4}).empty());
    EXPECT_TRUE(lives.of(4, {1, 2, 4}).empty());
}

TEST(SpanLives, OfSpansThatBecameOneAreOneSum)
{
    SpanLives lives;
    lives.born(0, {0, 1}, 10);
    lives.born(0, {1, 2}, 20);
    lives.born(0, {2, 3}, 40);
    lives.left(0, {2, 3}, 3, 40);
    // From here on the first two are one, of number 2.
    EXPECT_EQ(lives.of(0, {2, 3}), (All{{1, 1, 1, 40}, {0, kAlive, 2, 30}}));
    lives.left(0, {0, 2}, 3, 10);
    EXPECT_EQ(lives.of(0, {2, 3}), (All{{0, 1, 1, 10}, {1, 1, 1, 40}, {0, kAlive, 1, 20}}));
    lives.left(0, {0, 2}, 3, 20);
    EXPECT_EQ(lives.sums(), 2u);
    lives.join(0, {3});
    EXPECT_EQ(lives.sums(), 1u);
    EXPECT_EQ(lives.of(0, {3}), (All{{0, 0, 3, 70}}));
}

TEST(SpanLives, OfAllThatIsAliveLeaveAtOnce)
{
    SpanLives lives;
    lives.born(0, {0, 1}, 10);
    lives.born(0, {1, 2}, 20);
    lives.all_left(0, 3);
    EXPECT_EQ(lives.of(0, {1, 2, 3}), (All{{0, 2, 1, 10}, {1, 2, 1, 20}}));
}

TEST(SpanLives, TellOfASiteWithManySumsOnce)
{
    SpanLives lives;
    for (std::uint32_t at = 1; at <= 1000; ++at) {
        lives.born(7, {at - 1, at}, 1);
        lives.left(7, {at - 1, at}, at, 1);
    }
    EXPECT_EQ(lives.grown().front(), 7u);
    EXPECT_LE(lives.grown().size(), 2u) << "and not with each of them";
    lives.join(7, {500, 1000});
    EXPECT_EQ(lives.of(7, {500, 1000}), (All{{0, 0, 500, 500}, {1, 1, 500, 500}}));
}

} // namespace
} // namespace vramscope::report
