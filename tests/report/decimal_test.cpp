// tests/report/decimal_test.cpp — what is a number, and where it ends.
#include "report/decimal.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(Decimal, IsCutOffTheBeginning)
{
    std::string_view text = "12.5s";
    EXPECT_EQ(take_decimal(text), 12.5);
    EXPECT_EQ(text, "s");
    text = "300 ms";
    EXPECT_EQ(take_decimal(text), 300);
    EXPECT_EQ(text, " ms");
    text = "1.2.3";
    EXPECT_EQ(take_decimal(text), 1.2);
    EXPECT_EQ(text, ".3");
    text = "0x10";
    EXPECT_EQ(take_decimal(text), 0);
    EXPECT_EQ(text, "x10");
    text = "1.5e-05 h";
    EXPECT_EQ(take_decimal(text), 1.5e-05);
    EXPECT_EQ(text, " h");
    text = "3e+s";
    EXPECT_EQ(take_decimal(text), 3);
    EXPECT_EQ(text, "e+s");
}

TEST(Decimal, NothingElseIsANumber)
{
    for (const std::string_view none : {"", "-1", "+1", " 1", ".5", "inf", "nan", "x"}) {
        std::string_view text = none;
        EXPECT_FALSE(take_decimal(text)) << none;
        EXPECT_EQ(text, none);
    }
}

} // namespace
} // namespace vramscope::report
