// tests/report/words/words_test.cpp — numbers and names for people.
//
// Names that attack a terminal must come out harmless.
#include "report/words/words.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(Words, BytesHaveOneDecimalAndNoneIfExact)
{
    EXPECT_EQ(human_bytes(0), "0 B");
    EXPECT_EQ(human_bytes(1023), "1023 B");
    EXPECT_EQ(human_bytes(1024), "1 KiB");
    EXPECT_EQ(human_bytes(1536), "1.5 KiB");
    EXPECT_EQ(human_bytes(1024 * 1024 - 1), "1 MiB");
    EXPECT_EQ(human_bytes(24ull << 30), "24 GiB");
    EXPECT_EQ(human_bytes(UINT64_MAX), "16 EiB");
}

TEST(Words, NumbersAreGroupedAndNounsAgree)
{
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(1234567), "1,234,567");
    EXPECT_EQ(counted(1, "block"), "1 block");
    EXPECT_EQ(counted(0, "block"), "0 blocks");
    EXPECT_EQ(counted(1, "library"), "1 library");
    EXPECT_EQ(counted(20, "library"), "20 libraries");
    EXPECT_EQ(counted(2, "process"), "2 processes");
}

TEST(Words, TriesAreToldByTheSizeOfEach)
{
    const std::uint64_t size = 7'900ull << 20;
    EXPECT_EQ(tries_of(1, size, size), "7.7 GiB");
    EXPECT_EQ(tries_of(2, size, size), "2 tries of 7.7 GiB");
    EXPECT_EQ(tries_of(3, 4096, 1 << 20), "3 tries of 4 KiB to 1 MiB");
    EXPECT_EQ(tries_of(3, 0, 1 << 20), "3 tries of up to 1 MiB");
    EXPECT_EQ(tries_of(1200, 0, 0), "1,200 tries");
}

TEST(Words, TimesKeepThreeOrFourDigits)
{
    EXPECT_EQ(human_time(0), "0 us");
    EXPECT_EQ(human_time(999), "999 ns");
    EXPECT_EQ(human_time(850'000), "850 us");
    EXPECT_EQ(human_time(12'340'000), "12.3 ms");
    EXPECT_EQ(human_time(1'204'000'000), "1.204 s");
}

TEST(Words, TimesToComeAreRough)
{
    constexpr std::uint64_t kSecond = 1'000'000'000;
    EXPECT_EQ(rough_time(0), "1 s");
    EXPECT_EQ(rough_time(119 * kSecond), "119 s");
    EXPECT_EQ(rough_time(45 * 60 * kSecond + 1), "45 min");
    EXPECT_EQ(rough_time(12600 * kSecond), "3.5 h");
    EXPECT_EQ(rough_time(12 * 86400 * kSecond), "12 days");
    EXPECT_EQ(rough_time(INT64_MAX), "106,752 days");
}

TEST(Words, ControlCharactersOfAnyKindAreEscaped)
{
    EXPECT_EQ(terminal_safe("\x1b[2J\x07"), "\\x1b[2J\\x07");
    EXPECT_EQ(terminal_safe("a\nb\tc\x7f"), "a\\x0ab\\x09c\\x7f");
    EXPECT_EQ(terminal_safe("\xc2\x9b"
                            "31m"),
              "\\xc2\\x9b31m")
        << "CSI as a C1 character";
    EXPECT_EQ(terminal_safe("\xe2\x80\xae"
                            "evil"),
              "\\xe2\\x80\\xaeevil")
        << "right-to-left override";
    EXPECT_EQ(terminal_safe("\xd8\x9c\xe2\x81\xa6"), "\\xd8\\x9c\\xe2\\x81\\xa6")
        << "Arabic letter mark, left-to-right isolate";
    EXPECT_EQ(terminal_safe("\xf3\xa0\x80\xa0"), "\\xf3\\xa0\\x80\\xa0") << "an invisible tag";
    EXPECT_EQ(terminal_safe(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Words, TextInOtherScriptsStays)
{
    EXPECT_EQ(terminal_safe("größe_λ_模型"), "größe_λ_模型");
    EXPECT_EQ(columns("größe"), 5u);
}

TEST(Words, WhatIsNoUtf8IsEscaped)
{
    EXPECT_EQ(terminal_safe("\xff\xfe"), "\\xff\\xfe");
    EXPECT_EQ(terminal_safe("\xc3"), "\\xc3");
    EXPECT_EQ(terminal_safe("\xc0\x80"), "\\xc0\\x80") << "overlong";
    EXPECT_EQ(terminal_safe("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
    EXPECT_EQ(terminal_safe("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(Words, LongFunctionsLoseParametersFirstThenTemplateArguments)
{
    const std::string name =
        "void Pool<float, std::allocator<float>>::grow(unsigned long, unsigned long)";
    EXPECT_EQ(shorten_function(name, 100), name);
    EXPECT_EQ(shorten_function(name, 60), "void Pool<float, std::allocator<float>>::grow(...)");
    EXPECT_EQ(shorten_function(name, 40), "void Pool<...>::grow(...)");
    EXPECT_EQ(shorten_function(name, 12), "void Pool...");
}

TEST(Words, ShorteningAFunctionNeverExceedsTheWidth)
{
    for (const std::string name :
         {"a(b(c)<d>)", "operator<<(int)", "operator()(int) const", "((((((((((((((((((",
          ">>>>>>>>>>>>>>>>>>>>>>>>", "größe_größe_größe_größe_größe"}) {
        for (std::size_t width = 4; width < 40; ++width)
            EXPECT_LE(columns(shorten_function(name, width)), width) << name << " in " << width;
    }
}

TEST(Words, LongPathsKeepTheirEnd)
{
    EXPECT_EQ(shorten_path("/home/me/project/src/train.cu:87", 100),
              "/home/me/project/src/train.cu:87");
    EXPECT_EQ(shorten_path("/home/me/project/src/train.cu:87", 25), ".../src/train.cu:87");
    EXPECT_EQ(shorten_path("/home/a_very_long_file_name_of_a_generator.cu:87", 20),
              "a_very_long_file_...");
}

TEST(Words, NamesForTheShellAreQuotedWhenNeeded)
{
    EXPECT_EQ(shell_quoted("vramscope.train.12.vsl"), "vramscope.train.12.vsl");
    EXPECT_EQ(shell_quoted("my log.vsl"), "'my log.vsl'");
    EXPECT_EQ(shell_quoted("a'; rm -rf b"), "'a'\\''; rm -rf b'");
    EXPECT_EQ(shell_quoted(""), "''");
}

} // namespace
} // namespace vramscope::report
