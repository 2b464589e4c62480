// tests/interpose/serve/contexts/patience_test.cpp — how many long answers are borne.
#include "interpose/serve/contexts/patience.hpp"

#include <gtest/gtest.h>

namespace vramscope::hooks {
namespace {

bool is_over_after(std::initializer_list<std::uint64_t> answers)
{
    Patience patience(200);
    for (const std::uint64_t took : answers)
        patience.note(took);
    return patience.is_over();
}

TEST(Patience, EndsWithThreeLongAnswersInTurn)
{
    EXPECT_FALSE(is_over_after({}));
    EXPECT_FALSE(is_over_after({201, 9'999'999}));
    EXPECT_TRUE(is_over_after({201, 201, 201}));
    EXPECT_FALSE(is_over_after({201, 201, 200, 201, 201}));
    EXPECT_FALSE(is_over_after({200, 200, 200, 200}));
}

} // namespace
} // namespace vramscope::hooks
