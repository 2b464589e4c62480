// tests/report/decimal_test.cpp — what is a number, and where it ends.
#include "report/decimal.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(Decimal, IsCutOffTheBeginning)
{
    struct Row {
        std::string_view text;
        double number;
        std::string_view rest;
    };
    for (const Row& row :
         {Row{"12.5s", 12.5, "s"}, Row{"300 ms", 300, " ms"}, Row{"1.2.3", 1.2, ".3"},
          Row{"0x10", 0, "x10"}, Row{"1.5e-05 h", 1.5e-05, " h"}, Row{"3e+s", 3, "e+s"}}) {
        std::string_view text = row.text;
        EXPECT_EQ(take_decimal(text), row.number) << row.text;
        EXPECT_EQ(text, row.rest) << row.text;
    }
}

TEST(Decimal, NothingElseIsANumber)
{
    for (const std::string_view none : {"", "-1", "+1", " 1", ".5", "inf", "nan", "x"}) {
        std::string_view text = none;
        EXPECT_FALSE(take_decimal(text)) << none;
        EXPECT_EQ(text, none);
    }
}

TEST(WholeNumber, IsAllOfTheText)
{
    EXPECT_EQ(whole_number<int>("0"), 0);
    EXPECT_EQ(whole_number<int>("-12"), -12);
    EXPECT_EQ(whole_number<unsigned>("4294967295"), 4294967295u);
    for (const std::string_view none : {"", " 1", "1 ", "+1", "1.5", "0x10", "4294967296", "-1"})
        EXPECT_FALSE(whole_number<unsigned>(none)) << none;
}

} // namespace
} // namespace vramscope::report
