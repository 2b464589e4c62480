// tests/interpose/pool/split_policy_test.cpp — blocks cut from segments and joined again.
#include "interpose/pool/split_policy.hpp"

#include <vector>

#include "tests/interpose/pool/pool_fixture.hpp"

using namespace vramscope::pool;
using namespace vramscope::test;

using SplitPool = PoolFixture<SplitPolicy>;

TEST_F(SplitPool, SegmentsHaveTheSizesOfPyTorchs)
{
    get(1);
    EXPECT_EQ(upstream.reserved(), 2 * kMiB);
    get(kMiB + 1);
    EXPECT_EQ(upstream.reserved(), 22 * kMiB);
    get(10 * kMiB);
    EXPECT_EQ(upstream.reserved(), 22 * kMiB); // from the rest of the 20
    get(11 * kMiB);
    EXPECT_EQ(upstream.reserved(), 34 * kMiB);
}

TEST_F(SplitPool, BlocksLieBehindOneAnotherAndAreJoinedAgain)
{
    const Address a = get(1000), b = get(1), c = get(3000);
    EXPECT_EQ(b, a + 1024);
    EXPECT_EQ(c, b + 512);
    EXPECT_EQ(stats().inactive_split_bytes.all.current, 2 * kMiB - 1024 - 512 - 3072);
    retire(a);
    retire(c);
    EXPECT_EQ(stats().inactive_split.all.current, 2u);
    retire(b);
    EXPECT_EQ(stats().inactive_split.all.current, 0u);
    EXPECT_EQ(pool->largest_gap(), 2 * kMiB);
    EXPECT_EQ(get(kMiB), a);
}

TEST_F(SplitPool, OnlyWhatHasPassedIsJoined)
{
    const Address a = get(1000), b = get(1000);
    get(1000);
    give_up(a);
    epochs.begin();
    retire(b);
    give_up(get(2048)); // the block made of both
    EXPECT_EQ(pool->find(a).bytes, 2048u);
    EXPECT_EQ(upstream.calls.allocate, 1);
}

TEST_F(SplitPool, TheBestFitIsTakenAndTheLowestOfSeveral)
{
    std::vector<Address> blocks;
    for (const std::uint64_t bytes : {8000u, 32'768u, 4096u, 32'768u, 4096u, 33'280u}) {
        blocks.push_back(get(bytes));
        get(512); // keeps them apart
    }
    for (const Address address : blocks)
        give_up(address);
    upstream.synchronise();
    EXPECT_EQ(get(3500), blocks[2]);
    EXPECT_EQ(get(4096), blocks[4]);
    EXPECT_EQ(get(4000), blocks[0]);
    EXPECT_EQ(get(32'000), blocks[1]); // the best of three in a bin
    EXPECT_EQ(get(32'000), blocks[3]);
    EXPECT_EQ(get(32'000), blocks[5]);
}

TEST_F(SplitPool, LargeBlocksAreCutOnlyIfMoreThanAMebibyteIsLeft)
{
    const Address address = get(19 * kMiB);
    EXPECT_EQ(pool->find(address).bytes, 20 * kMiB);
    EXPECT_EQ(pool->allocate(18 * kMiB).block_bytes, 18 * kMiB); // a segment of its own size
    retire(address);
    EXPECT_EQ(pool->allocate(19 * kMiB - 512).block_bytes, 19 * kMiB - 512);
}

TEST_F(SplitPool, SmallAndLargeDoNotMix)
{
    retire(get(512));
    get(kMiB + 512); // the small segment of 2 MiB is free
    EXPECT_EQ(upstream.calls.allocate, 2);
    get(kMiB);
    EXPECT_EQ(upstream.calls.allocate, 2);
}

TEST_F(SplitPool, BlocksFromMaxSplitOnServeOnlyTheirLike)
{
    use({.max_split_bytes = 40 * kMiB});
    const Address oversize = get(60 * kMiB);
    EXPECT_EQ(stats().oversize_allocations.current, 1u);
    EXPECT_EQ(stats().oversize_segments.current, 1u);
    retire(oversize);
    EXPECT_EQ(stats().oversize_allocations.current, 0u);
    EXPECT_NE(get(30 * kMiB), oversize); // less than the limit never takes one beyond it
    EXPECT_NE(get(40 * kMiB), oversize); // 20 MiB more than asked is too much
    EXPECT_EQ(get(41 * kMiB), oversize);
    EXPECT_EQ(pool->find(oversize).bytes, 60 * kMiB); // and it is not cut
}

TEST_F(SplitPool, RoundsToDivisionsOfAPowerOfTwo)
{
    Options options;
    options.roundup_power2_divisions.fill(4);
    options.roundup_power2_divisions[3] = 0; // from 8 MiB to 16 MiB
    use(options);
    EXPECT_EQ(pool->allocate(1200).block_bytes, 1536u); // not more than 512 * 4
    EXPECT_EQ(pool->allocate(5 * 512 * kKiB).block_bytes, 5 * 512 * kKiB);
    EXPECT_EQ(pool->allocate(5 * 512 * kKiB + 1).block_bytes, 3 * kMiB);
    EXPECT_EQ(pool->allocate(9 * kMiB + 1).block_bytes, 9 * kMiB + 512);
}

TEST_F(SplitPool, AWholeSegmentLeavesAPartOfOneIsHeld)
{
    const Address whole = get(20 * kMiB), part = get(1000);
    get(1000);
    pool->pin_live();
    EXPECT_EQ(give_up(whole), Freed::leaves);
    EXPECT_EQ(give_up(part), Freed::cached);
    upstream.synchronise();
    EXPECT_EQ(pool->find(part).state, State::held);
    EXPECT_EQ(give_up(part), Freed::dead);
    EXPECT_NE(get(1000), part);
    pool->unpin_live();
    EXPECT_EQ(pool->find(part).state, State::pending);
    upstream.synchronise();
    EXPECT_EQ(get(1000), part);
}

TEST_F(SplitPool, APartThatWasPinnedItselfIsNotUsedAgainButItsSegmentMayGo)
{
    const Address part = get(1000), other = get(1000);
    pool->pin(part);
    EXPECT_EQ(give_up(part), Freed::cached);
    upstream.synchronise();
    EXPECT_EQ(pool->trim(Release::asked), 0u);
    EXPECT_NE(get(1000), part);
    give_up(other);
    give_up(other + 1024);
    EXPECT_EQ(pool->releasable_bytes(), 2 * kMiB);
    upstream.synchronise();
    EXPECT_EQ(pool->trim(Release::asked), 2 * kMiB);
    EXPECT_EQ(stats().active_bytes.all.current, 0u);
}

TEST_F(SplitPool, APartCannotBeDetached)
{
    const Address part = get(1000), whole = get(20 * kMiB);
    Detached left{};
    EXPECT_EQ(pool->detach(part, left), Freed::part);
    EXPECT_EQ(pool->find(part).state, State::live);
    EXPECT_EQ(pool->detach(whole, left), Freed::leaves);
    pool->reattach(left);
    EXPECT_EQ(pool->find(whole).state, State::live);
}

TEST_F(SplitPool, AddressesInsideAreFoundAndFreesOfThemAreJudged)
{
    const Address a = get(1000), b = get(1000);
    EXPECT_EQ(pool->find(a + 8).state, State::foreign);
    EXPECT_EQ(pool->find_inside(b + 1023).address, b);
    EXPECT_EQ(pool->find_inside(b + 1023).segment_address, a);
    EXPECT_EQ(pool->find_inside(a - 1).state, State::foreign);
    EXPECT_EQ(pool->find_inside(a + 2 * kMiB).state, State::foreign);
    EXPECT_EQ(give_up(b + 8), Freed::foreign);
    retire(a);
    retire(b);
    get(4 * kMiB); // all is joined by now
    EXPECT_EQ(give_up(b), Freed::dead);
}

TEST_F(SplitPool, TrimGivesBackOnlyWhatHasPassedWholly)
{
    const Address a = get(512), b = get(512);
    retire(a);
    give_up(b);
    EXPECT_EQ(pool->releasable_bytes(), 2 * kMiB);
    EXPECT_EQ(pool->trim(Release::asked), 0u);
    upstream.synchronise();
    EXPECT_EQ(pool->trim(Release::asked), 2 * kMiB);
    EXPECT_EQ(upstream.reserved(), 0u);
}

TEST_F(SplitPool, ASegmentThatComesAgainReplacesAllThatWasThere)
{
    const Address a = get(1000), b = get(1000);
    give_up(b);
    pool->adopt(a + kMiB, 2 * kMiB);
    EXPECT_EQ(pool->find(a).state, State::foreign);
    EXPECT_EQ(stats().allocation.all.current, 1u);
    EXPECT_EQ(stats().reserved_bytes.all.current, 2 * kMiB);
}

TEST_F(SplitPool, WhereMemoryIsShortASegmentIsNoLargerThanItsBlock)
{
    upstream.capacity = 3 * kMiB;
    const Allocation answer = pool->allocate(3 * kMiB - 100); // a segment would have 20 MiB
    EXPECT_EQ(answer.status, 0);
    EXPECT_TRUE(answer.retried);
    EXPECT_EQ(upstream.reserved(), 3 * kMiB);
    EXPECT_EQ(stats().num_ooms, 0u);
}

TEST_F(SplitPool, ABlockOfExactlyTheSizeIsNotJoinedAndCutAgain)
{
    const Address first = get(1024), second = get(2048), third = get(1024);
    give_up(first);
    give_up(second);
    retire(third);
    EXPECT_EQ(get(2048), second);
    EXPECT_EQ(get(1024), third); // the last freed of its size
    EXPECT_EQ(get(1024), first);
}

TEST_F(SplitPool, WhatWasGivenBackIsNotTakenForAPassedBlock)
{
    Options options;
    options.max_cached_bytes = 0;
    use(options);
    EXPECT_EQ(give_up(get(14 * kMiB)), Freed::surplus);
    pool->settle(); // while it was pending
    upstream.synchronise();
    get(14 * kMiB);
    EXPECT_EQ(upstream.calls.allocate, 2);
}

TEST_F(SplitPool, WhatWasJoinedIsNotTakenForAPassedBlock)
{
    const Address first = get(1024), second = get(1024);
    give_up(first);
    retire(second);
    EXPECT_EQ(get(2048), first); // joined for it
    EXPECT_EQ(get(1024), first + 2048);
}
