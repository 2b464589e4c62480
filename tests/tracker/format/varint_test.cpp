// tests/tracker/format/varint_test.cpp — numbers of any size, and a cursor that keeps its bounds.
#include "tracker/format/varint.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

using namespace vramscope::format;

namespace {

std::vector<std::uint8_t> bytes_of(std::uint64_t value)
{
    std::uint8_t buffer[kMaxVarintBytes];
    return {buffer, put_varint(buffer, value)};
}

Cursor over(const std::vector<std::uint8_t>& bytes)
{
    return {bytes.data(), bytes.data() + bytes.size()};
}

} // namespace

TEST(Varint, TakesOneByteMorePerSevenBits)
{
    EXPECT_EQ(bytes_of(0), std::vector<std::uint8_t>({0}));
    EXPECT_EQ(bytes_of(0x7f), std::vector<std::uint8_t>({0x7f}));
    EXPECT_EQ(bytes_of(0x80), std::vector<std::uint8_t>({0x80, 0x01}));
    EXPECT_EQ(bytes_of(0x3fff).size(), 2u);
    EXPECT_EQ(bytes_of(0x4000).size(), 3u);
    EXPECT_EQ(bytes_of(UINT64_MAX).size(), kMaxVarintBytes);
}

TEST(Varint, ComesBackForEveryBitLength)
{
    std::mt19937_64 random(1);
    for (unsigned bits = 0; bits <= 64; ++bits) {
        for (int repeat = 0; repeat < 50; ++repeat) {
            const std::uint64_t value = bits == 0 ? 0 : random() >> (64 - bits);
            const auto bytes = bytes_of(value);
            Cursor in = over(bytes);
            EXPECT_EQ(in.varint(), value);
            EXPECT_TRUE(in.ok() && in.at_end());
        }
    }
}

// Where eight bytes are left, they are decoded together.
TEST(Varint, ComesBackWhateverIsBehindIt)
{
    std::mt19937_64 random(1);
    for (unsigned bits = 1; bits <= 64; ++bits) {
        for (std::size_t behind = 0; behind <= 10; ++behind) {
            const std::uint64_t value = random() >> (64 - bits) | std::uint64_t{1} << (bits - 1);
            auto bytes = bytes_of(value);
            const std::size_t length = bytes.size();
            for (std::size_t more = 0; more < behind; ++more)
                bytes.push_back(static_cast<std::uint8_t>(random()));
            Cursor in = over(bytes);
            EXPECT_EQ(in.varint(), value);
            EXPECT_TRUE(in.ok());
            EXPECT_EQ(in.remaining(), bytes.size() - length);
        }
    }
}

TEST(Varint, ZigzagKeepsSmallNumbersOfEitherSignSmall)
{
    EXPECT_EQ(zigzag(0), 0u);
    EXPECT_EQ(zigzag(-1), 1u);
    EXPECT_EQ(zigzag(1), 2u);
    EXPECT_EQ(zigzag(-64), 127u);
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{12345},
          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
        EXPECT_EQ(unzigzag(zigzag(value)), value);
}

TEST(Cursor, RefusesAVarintThatIsCut)
{
    const auto whole = bytes_of(UINT64_MAX);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        Cursor in(whole.data(), whole.data() + length);
        EXPECT_EQ(in.varint(), 0u);
        EXPECT_FALSE(in.ok());
        EXPECT_TRUE(in.at_end());
    }
}

TEST(Cursor, RefusesMoreThan64Bits)
{
    for (const std::uint8_t last : {std::uint8_t{0x02}, std::uint8_t{0x7f}, std::uint8_t{0x81}}) {
        std::vector<std::uint8_t> bytes(9, 0xff);
        bytes.push_back(last);
        bytes.push_back(0x00);
        Cursor in = over(bytes);
        in.varint();
        EXPECT_FALSE(in.ok());
    }
}

TEST(Cursor, GivesNothingAfterAFailure)
{
    const std::vector<std::uint8_t> bytes{0x05, 'a', 'b'};
    Cursor in = over(bytes);
    EXPECT_TRUE(in.prefixed_text().empty());
    EXPECT_FALSE(in.ok());
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_EQ(in.u8(), 0u);
    EXPECT_EQ(in.remaining(), 0u);
    EXPECT_FALSE(in.ok());
}

TEST(Cursor, RefusesATextOfAlmostAllAddresses)
{
    std::vector<std::uint8_t> bytes = bytes_of(UINT64_MAX - 3);
    bytes.insert(bytes.end(), 64, 'x');
    Cursor in = over(bytes);
    EXPECT_TRUE(in.prefixed_text().empty());
    EXPECT_FALSE(in.ok());
}

TEST(Cursor, SurvivesAnyBytes)
{
    std::mt19937_64 random(2);
    for (int repeat = 0; repeat < 20000; ++repeat) {
        std::vector<std::uint8_t> bytes(random() % 24);
        for (std::uint8_t& byte : bytes)
            byte = static_cast<std::uint8_t>(random());
        Cursor in = over(bytes);
        while (in.ok() && !in.at_end()) {
            const std::uint8_t* const before = in.position();
            random() % 2 ? static_cast<void>(in.varint()) : static_cast<void>(in.prefixed_text());
            ASSERT_LE(in.position(), bytes.data() + bytes.size());
            ASSERT_GT(in.position(), before);
        }
    }
}

TEST(ShortCursor, ReadsWhatACursorReads)
{
    std::mt19937_64 random(3);
    for (unsigned bits = 1; bits <= 64; ++bits) {
        const std::uint64_t value = random() >> (64 - bits) | std::uint64_t{1} << (bits - 1);
        auto bytes = bytes_of(value);
        const std::size_t length = bytes.size();
        bytes.resize(length + 8, 0xff);
        ShortCursor in(bytes.data());
        const std::uint64_t read = in.varint();
        ASSERT_EQ(in.ok(), length <= 8) << bits << " bits";
        if (in.ok()) {
            EXPECT_EQ(read, value);
            EXPECT_EQ(in.position(), bytes.data() + length);
        }
    }
}

TEST(ShortCursor, RefusesAnIdOfMoreThan32Bits)
{
    for (const std::uint64_t value : {std::uint64_t{UINT32_MAX}, std::uint64_t{UINT32_MAX} + 1}) {
        auto bytes = bytes_of(value);
        bytes.resize(bytes.size() + 8);
        ShortCursor in(bytes.data());
        in.id();
        EXPECT_EQ(in.ok(), value <= UINT32_MAX);
    }
}

// Whatever the bytes are, it stays before those that have to be there.
TEST(ShortCursor, GoesNoFurtherThanEightBytesANumber)
{
    std::mt19937_64 random(4);
    for (int repeat = 0; repeat < 20000; ++repeat) {
        std::array<std::uint8_t, 6 * 8 + 8> bytes;
        for (std::uint8_t& byte : bytes)
            byte = static_cast<std::uint8_t>(random() | (repeat % 2 ? 0x80 : 0));
        ShortCursor in(bytes.data());
        for (std::ptrdiff_t number = 1; number <= 6; ++number) {
            in.varint();
            ASSERT_LE(in.position() - bytes.data(), 8 * number);
        }
    }
}
