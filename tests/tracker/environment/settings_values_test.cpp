// tests/tracker/environment/settings_values_test.cpp — what each kind of setting reads and refuses.
#include "tracker/environment/settings_values.hpp"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

using namespace vramscope::log;

namespace {

constexpr std::uint64_t operator""_MiB(unsigned long long number)
{
    return number << 20;
}

template <class Kind>
typename Kind::Value read_value(const char* text)
{
    typename Kind::Value value{};
    EXPECT_TRUE(Kind::read(text, value)) << text;
    return value;
}

template <class Kind>
void refuse(std::initializer_list<const char*> texts)
{
    for (const char* text : texts) {
        typename Kind::Value value{};
        EXPECT_FALSE(Kind::read(text, value)) << '\'' << text << '\'';
    }
}

Divisions::Value all(std::uint8_t divisions)
{
    Divisions::Value value;
    value.fill(divisions);
    return value;
}

} // namespace

TEST(SettingsValues, SizesArePowersOf1024)
{
    EXPECT_EQ(read_value<Size>("0"), 0u);
    EXPECT_EQ(read_value<Size>("4096"), 4096u);
    EXPECT_EQ(read_value<Size>("1k"), 1024u);
    EXPECT_EQ(read_value<Size>("512MiB"), 512_MiB);
    EXPECT_EQ(read_value<Size>("512MB"), 512_MiB);
    EXPECT_EQ(read_value<Size>("8G"), 8192_MiB);
    EXPECT_EQ(read_value<Size>("1.5GiB"), 1536_MiB);
    EXPECT_EQ(read_value<Size>("2TiB"), 2097152_MiB);
    EXPECT_EQ(read_value<Size>("off"), kNoBytes);
    EXPECT_EQ(read_value<Size>("16777215TiB"), 16777215ull << 40);
    refuse<Size>({"", "GiB", "-1", "+1", " 1", "1 ", "1.5", "1Gi", "1Gb", "1GiBs", "1P", "0x10",
                  "16777216TiB", "18446744073709551615", "18446744073709551616", "none", "OFF"});
}

TEST(SettingsValues, ALimitIsWhatADeviceCouldHave)
{
    EXPECT_EQ(read_value<Limit>("1MiB"), 1_MiB);
    EXPECT_EQ(read_value<Limit>("off"), kNoBytes);
    refuse<Limit>({"0", "8", "1048575", "1023K", "much"});
}

TEST(SettingsValues, IntervalsAreMilliseconds)
{
    EXPECT_EQ(read_value<Interval>("0"), 0u);
    EXPECT_EQ(read_value<Interval>("100"), 100u);
    EXPECT_EQ(read_value<Interval>("86400000"), 86'400'000u);
    EXPECT_EQ(read_value<Interval>("off"), Interval::kNever);
    refuse<Interval>({"", "-1", "1.5", "100ms", "86400001", "18446744073709551615", "never"});
}

TEST(SettingsValues, MaxSplitSizeIsPyTorchs)
{
    EXPECT_EQ(read_value<Megabytes>("20"), 20_MiB);
    EXPECT_EQ(read_value<Megabytes>("off"), kNoBytes);
    EXPECT_EQ(read_value<Megabytes>("17592186044416"), kNoBytes);
    refuse<Megabytes>({"19", "0", "", "-20", "20MiB", "20.5", "18446744073709551616"});
}

TEST(SettingsValues, OneNumberOfDivisionsIsForAllSizes)
{
    EXPECT_EQ(read_value<Divisions>("4"), all(4));
    EXPECT_EQ(read_value<Divisions>("128"), all(128));
    EXPECT_EQ(read_value<Divisions>("off"), all(0));
    refuse<Divisions>({"", "0", "3", "256", "4,", "-4", "4.0"});
}

TEST(SettingsValues, AListOfDivisionsIsReadAsPyTorchReadsIt)
{
    Divisions::Value expected = all(8); // ">" takes the last key's own interval too
    for (std::size_t i = 0; i <= 8; ++i)
        expected[i] = 1;
    expected[9] = 2;
    EXPECT_EQ(read_value<Divisions>("[256:1,512:2,1024:4,>:8]"), expected);

    expected = all(0);
    expected[0] = expected[1] = expected[2] = 8;
    expected[6] = 16;
    EXPECT_EQ(read_value<Divisions>("[4:8,64:16]"), expected);
    EXPECT_EQ(read_value<Divisions>("[>:4]"), all(4));
    EXPECT_EQ(read_value<Divisions>("[1048576:2]"), all(2)); // beyond the last interval: the last
    refuse<Divisions>({"[", "[]", "[256]", "[256:]", "[256:3]", "[256:256]", "[3:4]", "[0:4]",
                       "[256:4", "[256:4,]", "[256:4]x", "[:4]", "[>4]", "[256:4;512:8]",
                       "[ 256:4]", "256:4"});
}

TEST(SettingsValues, AThresholdIsBetween0And1)
{
    EXPECT_DOUBLE_EQ(read_value<Threshold>("0.8"), 0.8);
    EXPECT_DOUBLE_EQ(read_value<Threshold>(".999"), 0.999);
    EXPECT_EQ(read_value<Threshold>("off"), 0);
    refuse<Threshold>({"", ".", "0", "0.0", "1", "1.0", "-0.5", "0,8", "0.8.1", "8e-1", "nan",
                       "inf", "80%", "0x.8"});
}

TEST(SettingsValues, AFractionMayBeTheWhole)
{
    EXPECT_DOUBLE_EQ(read_value<Fraction>("0.125"), 0.125);
    EXPECT_EQ(read_value<Fraction>("1"), 1);
    EXPECT_EQ(read_value<Fraction>("1."), 1);
    EXPECT_EQ(read_value<Fraction>("off"), 0);
    refuse<Fraction>({"0", "1.01", "2", "half"});
}

TEST(SettingsValues, PoisonIsAByteInHexadecimal)
{
    EXPECT_EQ(read_value<Poison>("0xA5"), 0xA5);
    EXPECT_EQ(read_value<Poison>("0Xff"), 0xff);
    EXPECT_EQ(read_value<Poison>("0x0"), 0);
    EXPECT_EQ(read_value<Poison>("off"), -1);
    refuse<Poison>({"", "0x", "0x100", "0xg", "A5", "165", "on", "0x-1", "0x 1"});
}

TEST(SettingsValues, WordsAreThoseOfTheTable)
{
    EXPECT_EQ(read_value<Mode>("cache"), PoolMode::cache);
    EXPECT_EQ(read_value<Mode>("split"), PoolMode::split);
    EXPECT_EQ(read_value<Mode>("off"), PoolMode::off);
    refuse<Mode>({"", "on", "Cache", "cache "});
    EXPECT_TRUE(read_value<Sync>("strict"));
    EXPECT_FALSE(read_value<Sync>("lazy"));
    refuse<Sync>({"", "on", "off"});
    EXPECT_TRUE(read_value<Switch>("on"));
    EXPECT_FALSE(read_value<Switch>("off"));
    refuse<Switch>({"", "1", "ON"});
}
