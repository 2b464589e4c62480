// tests/tracker/format/size_text_test.cpp — what is a size, to the byte, and what is none.
#include "tracker/format/size_text.hpp"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

using vramscope::format::read_size;

namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

void refuse(std::initializer_list<std::string_view> texts)
{
    for (const std::string_view text : texts)
        EXPECT_FALSE(read_size(text)) << '\'' << text << '\'';
}

} // namespace

TEST(SizeText, UnitsArePowersOf1024)
{
    EXPECT_EQ(read_size("0"), 0u);
    EXPECT_EQ(read_size("4096"), 4096u);
    EXPECT_EQ(read_size("4096B"), 4096u);
    for (const char* text : {"3K", "3k", "3KB", "3kB", "3KiB", "3kiB"})
        EXPECT_EQ(read_size(text), 3u << 10) << text;
    EXPECT_EQ(read_size("512MiB"), 512ull << 20);
    EXPECT_EQ(read_size("8g"), 8ull << 30);
    EXPECT_EQ(read_size("2TB"), 2ull << 40);
    EXPECT_EQ(read_size("0024GiB"), 24ull << 30);
}

TEST(SizeText, FractionsAreExactAndRoundedDownToBytes)
{
    EXPECT_EQ(read_size("1.5GiB"), 1610612736u);
    EXPECT_EQ(read_size("0.5K"), 512u);
    EXPECT_EQ(read_size("1.0M"), 1u << 20);
    EXPECT_EQ(read_size("0.1GiB"), 107374182u);
    EXPECT_EQ(read_size("0.0009765625K"), 1u);
    EXPECT_EQ(read_size("0.000976562499999999999999999999999999999999K"), 0u);
    EXPECT_EQ(read_size("0.3T"), 329853488332u);
    EXPECT_EQ(read_size("2.9999999999999999999999999999999999999999T"), (3ull << 40) - 1);
    EXPECT_EQ(read_size("9007199254740993.0K"), 9007199254740993ull << 10) << "no double holds it";
}

TEST(SizeText, WhatFitsInto64BitsIsASize)
{
    EXPECT_EQ(read_size("18446744073709551615"), kMost);
    EXPECT_EQ(read_size("16777215.9999999999999999999999T"), kMost);
    EXPECT_EQ(read_size("18014398509481983K"), kMost - 1023);
    refuse({"18446744073709551616", "16777216T", "18014398509481984K", "99999999999999999999999T"});
}

TEST(SizeText, WhatIsWrittenInAnotherWayIsNone)
{
    refuse({"",       "G",     "GiB",   "-1",  "+1",   " 1",    "1 ",     "24 GiB",
            "1,5GiB", "1.GiB", ".5GiB", "1.5", "1.5B", "1..5G", "1.5.2G", "1e9",
            "0x10",   "1Gi",   "24Gib", "1Gb", "1gIB", "1GiBs", "1P",     "1iB",
            "1BB",    "off",   "inf",   "nan", "1/2G", "1_000", "١KiB",   "1KiB\n"});
    refuse({std::string_view("1\0G", 3), std::string_view("1G\0", 3)});
}
