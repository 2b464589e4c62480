// tests/report/plan/policies_test.cpp — the other policies, on traces that were worked out by hand.
#include <gtest/gtest.h>

#include "tests/report/plan/requests.hpp"

namespace vramscope::test {
namespace {

TEST(Policies, WithoutAnAllocatorSmallBlocksSharePages)
{
    Requests requests;
    requests.allocate(100);       // 512 bytes of a page
    requests.allocate(1_MiB);     // the same page
    requests.allocate(1_MiB);     // does not fit into it any more
    requests.allocate(1_MiB + 1); // a page of its own
    const Outcome outcome = requests.play("none");
    EXPECT_EQ(outcome.peak.reserved, 6_MiB);
    EXPECT_EQ(outcome.peak.allocated, 512 + 1_MiB + 1_MiB + 2_MiB);
    EXPECT_EQ(outcome.peak.internal(), 512u - 100 + 1_MiB - 1);
    EXPECT_EQ(outcome.device_calls, 4u); // one of them takes no page
}

TEST(Policies, WithoutAnAllocatorTheLowestGapIsUsedAndEmptyPagesGoBack)
{
    Requests requests;
    const BlockId first = requests.allocate(600_KiB);
    const BlockId second = requests.allocate(600_KiB);
    requests.allocate(600_KiB);
    const BlockId fourth = requests.allocate(600_KiB); // the second page
    requests.free(first);
    requests.allocate(512_KiB); // where the first was
    requests.free(second);
    requests.allocate(600_KiB); // where the second was, and not on the page of the fourth
    requests.free(fourth);      // alone on its page
    CountedDevice device;
    const auto policy = policy_of("none").make(device);
    replay(requests.trace, *policy, device);
    EXPECT_EQ(device.peak_reserved(), 4_MiB);
    EXPECT_EQ(device.reserved(), 2_MiB);
}

TEST(Policies, TheIdealMovesAllTogether)
{
    Requests requests;
    const BlockId first = requests.allocate(3_MiB);
    requests.allocate(3_MiB);
    requests.free(first);
    requests.allocate(4_MiB);
    EXPECT_EQ(requests.play("ideal").peak.reserved, 8_MiB); // 7 MiB in pages
    EXPECT_TRUE(requests.play("ideal", 6_MiB).out_of_memory);
}

TEST(Policies, TheCacheKeepsExactSizesUntilASynchronisation)
{
    Requests requests;
    requests.free(requests.allocate(4_MiB));
    requests.allocate(4_MiB); // the first may be in use still, and 64 MiB are not pending
    EXPECT_EQ(requests.play("cache").peak.reserved, 8_MiB);
    Requests synchronised;
    synchronised.free(synchronised.allocate(4_MiB));
    synchronised.synchronise();
    synchronised.allocate(4_MiB);
    synchronised.allocate(2_MiB); // another size
    EXPECT_EQ(synchronised.play("cache").peak.reserved, 6_MiB);
    EXPECT_EQ(synchronised.play("cache").device_calls, 2u);
}

TEST(Policies, TheCacheGivesBackWhenMemoryIsShort)
{
    Requests requests;
    requests.free(requests.allocate(4_MiB));
    requests.allocate(6_MiB);
    const Outcome outcome = requests.play("cache", 6_MiB);
    EXPECT_FALSE(outcome.out_of_memory);
    EXPECT_EQ(outcome.retries, 1u);
}

TEST(Policies, SplitCutsBlocks)
{
    Requests requests;
    requests.free(requests.allocate(16_MiB));
    requests.synchronise();
    requests.allocate(4_MiB);
    requests.allocate(4_MiB);
    EXPECT_EQ(requests.play("split").peak.reserved, 16_MiB);
}

TEST(Policies, RmmsPoolGrowsByWhatItHas)
{
    Requests requests;
    requests.allocate(10_MiB);
    requests.allocate(1_MiB); // 10 MiB more
    requests.allocate(9_MiB); // is in them
    requests.allocate(1_MiB); // 20 MiB more
    EXPECT_EQ(requests.play("rmm-pool").peak.reserved, 40_MiB);
    // On 30 MiB it asks for 20, and then for half of that.
    EXPECT_EQ(requests.play("rmm-pool", 30_MiB).peak.reserved, 30_MiB);
    // With a maximum it grows by half of what is left to that: 20, and then 10 MiB.
    EXPECT_EQ(requests.play("rmm-pool:maximum_pool_size_mb:40").peak.reserved, 30_MiB);
    EXPECT_EQ(requests.play("rmm-pool:initial_pool_size_mb:24").peak.reserved, 24_MiB);
}

TEST(Policies, RmmsPoolTakesFromOtherStreamsAndJoinsThem)
{
    Requests requests;
    const BlockId first = requests.allocate(10_MiB, 1);
    requests.free(first, 1);
    requests.free(requests.allocate(4_MiB, 2), 2); // out of the first stream's 10
    requests.allocate(10_MiB, 3);                  // joins both lists
    EXPECT_EQ(requests.play("rmm-pool").peak.reserved, 10_MiB);
}

TEST(Policies, RmmsBinsAreMadeAtOnce)
{
    Requests requests;
    requests.allocate(1);
    const Outcome outcome = requests.play("rmm-binning");
    EXPECT_EQ(outcome.peak.allocated, 256_KiB);
    // 128 blocks of 256 KiB, 512 KiB, ... 4 MiB are 992 MiB; the pool doubles: 32, 64 ... 512 MiB.
    EXPECT_EQ(outcome.peak.reserved, 32_MiB + 64_MiB + 128_MiB + 256_MiB + 512_MiB);
    requests.allocate(5_MiB); // larger than all bins: the pool's
    EXPECT_EQ(requests.play("rmm-binning").peak.allocated, 256_KiB + 5_MiB);
}

TEST(Policies, RmmsArenaIsHalfOfTheDeviceAtOnce)
{
    Requests requests;
    requests.allocate(100);
    EXPECT_EQ(requests.play("rmm-arena", 64_MiB).peak.reserved, 32_MiB);
    EXPECT_EQ(requests.play("rmm-arena").peak.reserved, 2_MiB); // a superblock, in a page
    EXPECT_EQ(requests.play("rmm-arena:arena_size_mb:8").peak.reserved, 8_MiB);
    EXPECT_EQ(requests.play("rmm-arena").device_calls, 1u);
    requests.allocate(32_MiB);
    EXPECT_TRUE(requests.play("rmm-arena", 64_MiB).out_of_memory);
}

TEST(Policies, RmmsArenaHasSuperblocksOfEachStreamUntilMemoryIsShort)
{
    Requests requests;
    const BlockId first = requests.allocate(512_KiB, 1);
    const BlockId second = requests.allocate(512_KiB, 2); // not beside the first
    const BlockId third = requests.allocate(512_KiB, 1);  // beside it
    CountedDevice device;
    const auto policy = policy_of("rmm-arena:arena_size_mb:3").make(device);
    replay(requests.trace, *policy, device);
    EXPECT_EQ(policy->address(second), policy->address(first) + 1_MiB);
    EXPECT_EQ(policy->address(third), policy->address(first) + 512_KiB);
    requests.free(first, 2); // by another stream
    requests.free(third, 1);
    requests.allocate(2_MiB + 1, 1); // not even when the first stream gives back its own
    const Outcome outcome = requests.play("rmm-arena:arena_size_mb:3");
    EXPECT_EQ(outcome.retries, 1u);
    ASSERT_TRUE(outcome.out_of_memory);
    // What is free after the second is in its superblock, which is joined with none.
    EXPECT_EQ(outcome.out_of_memory->largest_free, 1_MiB);
    requests.free(second, 2);
    requests.allocate(2_MiB, 1); // the second is in a superblock that went back
    EXPECT_EQ(requests.play("rmm-arena:arena_size_mb:3").shortages, 1u);
}

TEST(Policies, StreamOrderedMemoryIsKeptUntilASynchronisation)
{
    Requests requests;
    requests.free(requests.allocate(40_MiB, 1), 1);
    requests.allocate(10_MiB, 2);
    requests.synchronise();
    for (const char* const name : {"async-best", "async-worst"}) {
        CountedDevice device;
        const auto policy = policy_of(name).make(device);
        replay(requests.trace, *policy, device);
        // In the worst case the second stream has 32 MiB of its own, of which it uses 10.
        const bool best = policy_of(name).name == "async-best";
        EXPECT_EQ(device.peak_reserved(), best ? 40_MiB : 72_MiB) << name;
        EXPECT_EQ(device.reserved(), best ? 10_MiB : 32_MiB) << name;
    }
    EXPECT_EQ(requests.play("async-best:release_threshold_mb:64").device_calls, 20u); // pages
    for (int round = 0; round < 4; ++round) // a log does not say of what stream a free is
        requests.free(requests.allocate(20_MiB, 3));
    EXPECT_EQ(requests.play("async-worst").peak.reserved, 72_MiB);
}

// What any allocator must obey, on random traces.
TEST(Policies, NoneIsBelowTheIdealAndNoneHasMoreThanItReserved)
{
    for (unsigned seed = 0; seed < 3; ++seed) {
        const Requests requests = random_requests(seed, 3000, 3);
        const std::uint64_t least = requests.play("ideal").peak.reserved;
        for (const PolicyRow& row : usual_policies()) {
            CountedDevice device;
            const auto policy = row.make(device);
            const Step step = [&](std::size_t at, const Policy& played, const CountedDevice& on,
                                  const Outcome&) {
                ASSERT_LE(played.allocated(), on.reserved()) << row.name << " request " << at;
            };
            const Outcome outcome = replay(requests.trace, *policy, device, false, step);
            EXPECT_GE(outcome.peak.reserved, least) << row.name;
            EXPECT_EQ(outcome.shortages, 0u) << row.name;
            EXPECT_EQ(outcome.peak.reserved, device.peak_reserved()) << row.name;
        }
    }
}

} // namespace
} // namespace vramscope::test
