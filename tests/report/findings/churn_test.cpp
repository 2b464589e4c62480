// tests/report/findings/churn_test.cpp — temporary, short-lived and redundant blocks.
//
// The sums of the driver's time are tested here too.
#include <string>

#include <gtest/gtest.h>

#include "report/findings/findings.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::program_with_stacks;
using test::report_of;
using test::operator""_KiB;

ChurnReport churn_of(const LogBuilder& log)
{
    return report_of(log).processes.at(0).churn;
}

std::uint64_t blocks_below(const ChurnReport& churn, std::uint64_t ns)
{
    for (const LifetimeBin& bin : churn.lifetimes)
        if (bin.below_ns == ns)
            return bin.blocks;
    return UINT64_MAX;
}

TEST(Churn, ABlockIsTemporaryIfNothingComesBeforeItsFree)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 4_KiB, 1).free(0x1000);                                      // one
    log.alloc(0x1000, 4_KiB, 1).alloc(0x3000, 4_KiB, 2).free(0x1000).free(0x3000); // none
    log.alloc(0x1000, 4_KiB, 1).alloc(0x3000, 4_KiB, 1).free(0x1000).free(0x3000); // one
    log.alloc(0x1000, 8_KiB, 1).alloc(0x4000, 4_KiB, 1).free(0x1000).free(0x4000); // none
    const ChurnReport churn = churn_of(log);
    EXPECT_EQ(churn.allocations, 7u);
    EXPECT_EQ(churn.frees, 7u);
    EXPECT_EQ(churn.temporary, 2u) << "size and stack are what heaptrack tells blocks by";
}

TEST(Churn, WhatHappensOnAnotherDeviceOrTheHostIsNotBetween)
{
    LogBuilder log = program_with_stacks();
    log.context(1, 0).context(2, 1);
    log.place({.context = 1, .device = 0}).alloc(0x1000, 4_KiB, 1);
    log.place({.context = 2, .device = 1}).alloc(0x9000, 4_KiB, 2);
    log.alloc(0x5000, 4_KiB, 3, "cuMemHostAlloc");
    log.free(0x1000).free(0x9000).free(0x5000, "cuMemFreeHost");
    EXPECT_EQ(churn_of(log).temporary, 3u);
}

TEST(Churn, ASizeThatAPlaceFreedBeforeIsRedundant)
{
    LogBuilder log = program_with_stacks();
    for (int step = 0; step < 10; ++step) {
        log.alloc(0x1000, 4_KiB, 1).alloc(0x8000, 64_KiB + 256 * step, 2);
        log.free(0x1000).free(0x8000);
    }
    const ChurnReport churn = churn_of(log);
    EXPECT_EQ(churn.redundant, 9u) << "the second place asks for another size each time";
    EXPECT_EQ(churn.redundant_driver, 9u);
    ASSERT_EQ(churn.sites.size(), 2u);
    EXPECT_EQ(churn.sites[0].redundant, 9u);
    EXPECT_EQ(churn.sites[0].allocations, 10u);
    EXPECT_EQ(churn.sites[0].allocated_bytes, 40_KiB);
    EXPECT_EQ(churn.sites[0].stack.at(0).offset, 0x1000u);
    EXPECT_EQ(churn.sites[1].redundant, 0u);
}

TEST(Churn, WhatIsHeldAtOnceIsNotRedundant)
{
    LogBuilder log = program_with_stacks();
    for (std::uint64_t i = 0; i < 4; ++i)
        log.alloc(0x10000 + i * 0x1000, 4_KiB, 1);
    EXPECT_EQ(churn_of(log).redundant, 0u);
    for (std::uint64_t i = 0; i < 4; ++i)
        log.free(0x10000 + i * 0x1000);
    for (std::uint64_t i = 0; i < 6; ++i)
        log.alloc(0x10000 + i * 0x1000, 4_KiB, 1);
    EXPECT_EQ(churn_of(log).redundant, 4u) << "as many as it had freed";
}

TEST(Churn, OfPooledBlocksOnlyThoseOfANewSegmentAskedTheDriver)
{
    LogBuilder log = program_with_stacks();
    log.info("pool.mode", "cache").context(1, 0).place({.context = 1, .device = 0});
    log.segment(0x100000, 4_KiB).pooled(0x100000, 4_KiB, 0, 1).free(0x100000);
    log.reusable().pooled(0x100000, 4_KiB, 0, 1).free(0x100000);
    log.segment(0x200000, 4_KiB).pooled(0x200000, 4_KiB, 0, 1);
    const ChurnReport churn = churn_of(log);
    EXPECT_EQ(churn.redundant, 2u);
    EXPECT_EQ(churn.redundant_driver, 1u);
}

TEST(Churn, SizesAndLifetimesAreCounted)
{
    LogBuilder log = program_with_stacks();
    log.at(2'000'000).alloc(0x1000, 1000, 1).free(0x1000);
    log.at(3'000'000).alloc(0x1000, 1024, 1).at(5'000'000).free(0x1000);
    log.alloc(0x8000, 1025, 1);
    const ChurnReport churn = churn_of(log);
    ASSERT_EQ(churn.sizes.size(), 2u);
    EXPECT_EQ(churn.sizes[0].from_bytes, 512u);
    EXPECT_EQ(churn.sizes[0].blocks, 1u);
    EXPECT_EQ(churn.sizes[1].from_bytes, 1024u);
    EXPECT_EQ(churn.sizes[1].blocks, 2u);
    EXPECT_EQ(churn.sizes[1].bytes, 2049u);
    EXPECT_EQ(blocks_below(churn, 10'000), 1u);
    EXPECT_EQ(blocks_below(churn, 10'000'000), 1u);
    EXPECT_EQ(churn.short_lived, 1u);
}

TEST(Churn, TheDriversTimeIsSummedByEntryPoint)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 4_KiB, 1).free(0x1000).alloc(0x1000, 4_KiB, 1);
    EXPECT_EQ(churn_of(log).driver_calls, 0u) << "a log of 3.0";
    log.driver_time("cuMemAlloc_v2", 2, 5000, 4000).driver_time("cuMemFree_v2", 1, 9000, 9000);
    log.thread(1).driver_time("cuMemAlloc_v2", 2, 1000, 600);
    const ChurnReport churn = churn_of(log);
    EXPECT_EQ(churn.driver_calls, 5u);
    EXPECT_EQ(churn.driver_ns, 15'000u);
    ASSERT_EQ(churn.driver.size(), 2u);
    EXPECT_EQ(churn.driver[0].entry_point, "cuMemFree_v2");
    EXPECT_EQ(churn.driver[1].calls, 4u);
    EXPECT_EQ(churn.driver[1].total_ns, 6000u);
    EXPECT_EQ(churn.driver[1].longest_ns, 4000u);
    EXPECT_EQ(churn.redundant_ns, 10'500u) << "one pair: a mean allocation and a mean free";
}

TEST(Churn, OwnersAndReservationsAreNoChurn)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 1 << 20, 1, "cuMemAddressReserve").free(0x1000, "cuMemAddressFree");
    log.alloc(0x2000, 0, 1, "cuMemPoolCreate").free(0x2000, "cuMemPoolDestroy");
    const ChurnReport churn = churn_of(log);
    EXPECT_EQ(churn.allocations, 0u);
    EXPECT_TRUE(churn.sites.empty());
}

} // namespace
} // namespace vramscope::report
