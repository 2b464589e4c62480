// tests/report/words/plan_words_test.cpp — a plan's words: sizes that differ never read alike.
#include "report/words/plan_words.hpp"

#include <gtest/gtest.h>

using namespace vramscope::report;

namespace {

constexpr std::uint64_t kMiB = 1 << 20, kGiB = 1 << 30;

TEST(SmallestCardWords, TellItFromTheCardsThatWereAskedAbout)
{
    PlanPolicy policy;
    policy.smallest_card = 4 * kGiB + 2 * kMiB;
    EXPECT_EQ(smallest_card_words(policy, {}), "4,098 MiB") << "4 GiB would be too small";
    EXPECT_EQ(smallest_card_words(policy, {8 * kGiB, 4 * kGiB}), "4 GiB and 2 MiB");
    policy.smallest_card = 4 * kGiB - 2 * kMiB;
    EXPECT_EQ(smallest_card_words(policy, {4 * kGiB}), "4 GiB less 2 MiB");
    EXPECT_EQ(smallest_card_words(policy, {}), "4 GiB");
    policy.smallest_card = 4 * kGiB;
    EXPECT_EQ(smallest_card_words(policy, {4 * kGiB}), "4 GiB");
}

} // namespace
