// tests/simgpu/base/free_ranges_test.cpp — free address ranges against a map of single bytes.
#include "tools/simgpu/driver/base/free_ranges.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

using simgpu::FreeRanges;

TEST(FreeRanges, TakesTheLowestFit)
{
    FreeRanges ranges;
    ranges.give(0x1000, 64);
    ranges.give(0x2000, 256);
    ranges.give(0x3000, 256);
    EXPECT_EQ(ranges.take(128), 0x2000u);
    EXPECT_EQ(ranges.take(64), 0x1000u);
    EXPECT_EQ(ranges.take(300), std::nullopt);
}

TEST(FreeRanges, MergesNeighboursInsideTheirLimits)
{
    FreeRanges ranges;
    ranges.give(0x1000, 0x100);
    const auto merged = ranges.give(0x1100, 0x100);
    EXPECT_EQ(merged.start, 0x1000u);
    EXPECT_EQ(merged.bytes, 0x200u);
    const auto apart = ranges.give(0x1200, 0x100, 0x1200, 0x1300);
    EXPECT_EQ(apart.start, 0x1200u);
    EXPECT_EQ(ranges.free_bytes(), 0x300u);
    EXPECT_EQ(ranges.take(0x300), std::nullopt);
}

TEST(FreeRanges, AlignsAndKeepsTheRest)
{
    FreeRanges ranges;
    ranges.give(0x1100, 0x3000);
    EXPECT_EQ(ranges.take(0x1000, 0x1000), 0x2000u);
    EXPECT_EQ(ranges.take(0xf00), 0x1100u);
    EXPECT_EQ(ranges.free_bytes(), 0x3000u - 0x1000 - 0xf00);
}

TEST(FreeRanges, AgreesWithAModelOverRandomUse)
{
    constexpr std::uintptr_t kStart = 4096;
    constexpr std::size_t kSize = 8192;
    std::vector<bool> taken(kSize, false);
    std::vector<std::pair<std::uintptr_t, std::size_t>> held;
    FreeRanges ranges;
    ranges.give(kStart, kSize);
    std::mt19937 random(1);
    for (int step = 0; step < 20000; ++step) {
        if (held.empty() || random() % 2 == 0) {
            const std::size_t bytes = 1 + random() % 200;
            const auto address = ranges.take(bytes);
            if (!address)
                continue;
            for (std::size_t byte = 0; byte < bytes; ++byte) {
                ASSERT_FALSE(taken[*address - kStart + byte]);
                taken[*address - kStart + byte] = true;
            }
            held.emplace_back(*address, bytes);
        } else {
            const std::size_t which = random() % held.size();
            const auto [address, bytes] = held[which];
            held[which] = held.back();
            held.pop_back();
            std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(address - kStart), bytes,
                        false);
            ranges.give(address, bytes);
        }
        ASSERT_EQ(ranges.free_bytes(),
                  static_cast<std::size_t>(std::count(taken.begin(), taken.end(), false)));
    }
    for (const auto& [address, bytes] : held)
        ranges.give(address, bytes);
    EXPECT_EQ(ranges.take(kSize), kStart); // all has merged again
}
