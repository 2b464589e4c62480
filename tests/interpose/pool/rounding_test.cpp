// tests/interpose/pool/rounding_test.cpp — the sizes of blocks and segments.
#include "interpose/pool/rounding.hpp"

#include <gtest/gtest.h>

using namespace vramscope::pool;

namespace {

constexpr std::uint64_t kMebibyte = 1u << 20;

} // namespace

TEST(Rounding, BlocksAreMultiplesOf512)
{
    EXPECT_EQ(round_block({}, 1), 512u);
    EXPECT_EQ(round_block({}, 512), 512u);
    EXPECT_EQ(round_block({}, 513), 1024u);
}

TEST(Rounding, DivisionsAreThoseOfTheSizesPowerOfTwo)
{
    Options options;
    for (unsigned entry = 0; entry < options.roundup_power2_divisions.size(); ++entry)
        options.roundup_power2_divisions[entry] = static_cast<std::uint8_t>(entry);
    EXPECT_EQ(divisions_for(options, 512), 0u);
    EXPECT_EQ(divisions_for(options, 2 * kMebibyte - 1), 0u);
    EXPECT_EQ(divisions_for(options, 2 * kMebibyte), 1u);
    EXPECT_EQ(divisions_for(options, std::uint64_t{16} << 30), 14u);
    EXPECT_EQ(divisions_for(options, std::uint64_t{32} << 30), 15u);
    EXPECT_EQ(divisions_for(options, std::uint64_t{64} << 30), 15u);
}

TEST(Rounding, DivisionsHoldForBlocksOfMoreThan512TimesAsMuch)
{
    Options options;
    options.roundup_power2_divisions.fill(4);
    EXPECT_EQ(round_block(options, 512 * 4), 512u * 4);
    EXPECT_EQ(round_block(options, 512 * 3 + 1), 512u * 4);
    EXPECT_EQ(round_block(options, 512 * 4 + 1), 512u * 5);
    EXPECT_EQ(round_block(options, 512 * 9), 512u * 10);
    EXPECT_EQ(round_to_division(1200, 4), 1280u);
    EXPECT_EQ(round_to_division(1024, 4), 1024u);
}

TEST(Rounding, SegmentsAreOf2Or20MebibytesOrAsLargeAsNeeded)
{
    EXPECT_EQ(round_segment(kMebibyte), 2 * kMebibyte);
    EXPECT_EQ(round_segment(kMebibyte + 512), 20 * kMebibyte);
    EXPECT_EQ(round_segment(10 * kMebibyte - 512), 20 * kMebibyte);
    EXPECT_EQ(round_segment(10 * kMebibyte), 10 * kMebibyte);
    EXPECT_EQ(round_segment(10 * kMebibyte + 512), 12 * kMebibyte);
}
