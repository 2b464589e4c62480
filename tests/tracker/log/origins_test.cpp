// tests/tracker/log/origins_test.cpp — a node's stack is found by its numbers, or not at all.
#include "tracker/log/origins.hpp"

#include <optional>

#include <gtest/gtest.h>

using namespace vramscope;

namespace {

constexpr std::uint64_t kPlaces = 1 << 16;
constexpr std::uint64_t kThreads = (1 << 20) - 1;
constexpr std::uint64_t kNumbers = std::uint64_t{1} << 40;

log::Origins opened()
{
    log::Origins origins;
    EXPECT_TRUE(origins.open());
    return origins;
}

} // namespace

TEST(Origins, AreToldByBothNumbers)
{
    log::Origins origins = opened();
    origins.remember(1, 5, 77);
    origins.remember(2, 5, 78);
    EXPECT_EQ(origins.find(1, 5), 77u);
    EXPECT_EQ(origins.find(2, 5), 78u);
    EXPECT_EQ(origins.find(5, 1), std::nullopt);
    EXPECT_EQ(origins.find(1, 4), std::nullopt);
    EXPECT_EQ(origins.find(0, 0), std::nullopt);
    EXPECT_EQ(origins.find(1, 5 + kPlaces), std::nullopt);
}

TEST(Origins, MayBeANodeWithoutAStack)
{
    log::Origins origins = opened();
    origins.remember(0, 0, 0);
    EXPECT_EQ(origins.find(0, 0), 0u);
}

TEST(Origins, AreTheLastOnesOfAThread)
{
    log::Origins origins = opened();
    for (std::uint64_t number = 0; number < kPlaces + 100; ++number)
        origins.remember(3, number, static_cast<std::uint32_t>(number % 1000 + 1));
    EXPECT_EQ(origins.find(3, 99), std::nullopt);
    for (std::uint64_t number = 100; number < kPlaces + 100; ++number)
        ASSERT_EQ(origins.find(3, number), number % 1000 + 1);
}

TEST(Origins, WithNumbersThatAreTooLargeAreNotKept)
{
    log::Origins origins = opened();
    origins.remember(kThreads, 1, 5);
    origins.remember(1, kNumbers, 5);
    origins.remember(kThreads - 1, kNumbers - 1, 1 << 19);
    EXPECT_EQ(origins.find(kThreads, 1), std::nullopt);
    EXPECT_EQ(origins.find(1, kNumbers), std::nullopt);
    EXPECT_EQ(origins.find(1, 0), std::nullopt);
    EXPECT_EQ(origins.find(kThreads - 1, kNumbers - 1), 1u << 19);
}

TEST(Origins, LoseTheirStacksWhenTheseAreAParents)
{
    log::Origins origins = opened();
    origins.remember(1, 5, 77);
    origins.forget_stacks();
    EXPECT_EQ(origins.find(1, 5), 0u);
    EXPECT_EQ(origins.find(1, 6), std::nullopt);
}
