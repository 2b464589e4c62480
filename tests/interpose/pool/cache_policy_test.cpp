// tests/interpose/pool/cache_policy_test.cpp — whole segments, reused by their exact size.
#include "interpose/pool/cache_policy.hpp"

#include <vector>

#include "tests/interpose/pool/pool_fixture.hpp"

using namespace vramscope::pool;
using namespace vramscope::test;

using CachePool = PoolFixture<CachePolicy>;

TEST_F(CachePool, AFreedBlockServesTheSameSizeOnceItHasPassed)
{
    const Address first = get(1000);
    retire(first);
    const Allocation again = pool->allocate(1000);
    EXPECT_EQ(again.address, first);
    EXPECT_TRUE(again.reused);
    EXPECT_EQ(again.block_bytes, 1000u);
    EXPECT_EQ(upstream.calls.allocate, 1);
}

TEST_F(CachePool, NoBlockServesAnotherSize)
{
    retire(get(1000));
    get(999);
    get(1001);
    EXPECT_EQ(upstream.calls.allocate, 3);
}

TEST_F(CachePool, APendingBlockIsWaitedForRatherThanReplaced)
{
    const Address first = get(1000);
    give_up(first);
    EXPECT_EQ(pool->find(first).state, State::pending);
    EXPECT_EQ(get(1000), first);
    EXPECT_EQ(upstream.calls.synchronise, 1);
    EXPECT_EQ(upstream.calls.allocate, 1);
    EXPECT_EQ(stats().num_sync_all_streams, 1u);
}

TEST_F(CachePool, NobodyWaitsForOtherSizes)
{
    give_up(get(1000));
    get(2000);
    EXPECT_EQ(upstream.calls.synchronise, 0);
}

TEST_F(CachePool, NobodyWaitsWhoMayNotCall)
{
    const Address first = get(1000);
    give_up(first);
    EXPECT_NE(pool->allocate(1000, false).address, first);
    EXPECT_EQ(upstream.calls.synchronise, 0);
}

TEST_F(CachePool, WhoMayNotCallGetsAReadyBlockAllTheSame)
{
    const Address first = get(1000);
    retire(first);
    EXPECT_EQ(pool->allocate(1000, false).address, first);
}

TEST_F(CachePool, OfThoseThatHavePassedTheLastFreedIsHandedOut)
{
    const Address a = get(1000), b = get(1000), c = get(1000);
    give_up(a);
    retire(b);
    give_up(c); // pending
    EXPECT_EQ(get(1000), b);
    EXPECT_EQ(get(1000), a);
    EXPECT_EQ(upstream.calls.synchronise, 1);
    EXPECT_EQ(get(1000), c);
}

TEST_F(CachePool, RoundsOnlyIfToldTo)
{
    Options options;
    options.roundup_power2_divisions.fill(4);
    use(options);
    EXPECT_EQ(pool->allocate(3000).block_bytes, 3072u); // 2048 + 2 * 512
    EXPECT_EQ(pool->allocate(2000).block_bytes, 2000u); // not more than 512 * 4
    EXPECT_EQ(stats().requested_bytes.all.current, 5000u);
    EXPECT_EQ(stats().allocated_bytes.all.current, 5072u);
}

TEST_F(CachePool, APinnedBlockLeavesAtItsFree)
{
    const Address address = get(1000);
    EXPECT_TRUE(pool->pin(address));
    EXPECT_TRUE(pool->find(address).pinned);
    EXPECT_EQ(give_up(address), Freed::leaves);
    EXPECT_EQ(pool->find(address).state, State::foreign);
    EXPECT_EQ(stats().reserved_bytes.all.current, 0u);
}

TEST_F(CachePool, OnlyALiveBlockCanBePinned)
{
    const Address address = get(1000);
    give_up(address);
    EXPECT_FALSE(pool->pin(address));
    EXPECT_FALSE(pool->pin(12345));
}

TEST_F(CachePool, AllThatIsLiveIsPinnedUntilItIsUnpinned)
{
    const Address before = get(1000), kept = get(1000);
    pool->pin_live();
    const Address after = get(1000);
    EXPECT_EQ(give_up(before), Freed::leaves);
    EXPECT_EQ(give_up(after), Freed::cached);
    pool->unpin_live();
    EXPECT_EQ(give_up(kept), Freed::cached);
}

TEST_F(CachePool, WhatLeftComesBackAsItWasIfTheDriverRefuses)
{
    const Address address = get(1000);
    pool->pin(address);
    const std::uint64_t serial = pool->find(address).serial;
    Detached left{};
    EXPECT_EQ(pool->free(address, &left), Freed::leaves);
    pool->reattach(left);
    EXPECT_EQ(pool->find(address).serial, serial);
    EXPECT_TRUE(pool->find(address).pinned);
    EXPECT_EQ(give_up(address), Freed::leaves);
}

TEST_F(CachePool, ALiveBlockCanBeDetachedAFreedOneCannot)
{
    const Address address = get(1000);
    Detached left{};
    EXPECT_EQ(pool->detach(address, left), Freed::leaves);
    EXPECT_EQ(left.bytes, 1000u);
    EXPECT_EQ(pool->detach(address, left), Freed::foreign);
    pool->reattach(left);
    give_up(address);
    EXPECT_EQ(pool->detach(address, left), Freed::dead);
}

TEST_F(CachePool, WhatWasAdoptedIsKeptLikeItsOwn)
{
    EXPECT_TRUE(pool->adopt(0x5000, 1000));
    EXPECT_FALSE(pool->adopt(0x9000, 0));
    EXPECT_EQ(pool->find(0x5000).state, State::live);
    retire(0x5000);
    EXPECT_EQ(get(1000), 0x5000u);
    EXPECT_EQ(stats().num_reused, 1u);
}

TEST_F(CachePool, AnAddressThatComesAgainReplacesWhatWasThere)
{
    pool->adopt(0x5000, 1000);
    pool->adopt(0x5200, 1000); // overlaps
    EXPECT_EQ(pool->find(0x5000).state, State::foreign);
    EXPECT_EQ(stats().allocation.all.current, 1u);
    pool->free(0x5200);
    pool->adopt(0x5000, 4096); // overlaps what is free
    EXPECT_EQ(pool->find(0x5200).state, State::foreign);
    EXPECT_EQ(stats().reserved_bytes.all.current, 4096u);
}

TEST_F(CachePool, ADoubleFreeAndAForeignPointerAreToldApart)
{
    const Address address = get(1000);
    EXPECT_EQ(give_up(address + 8), Freed::foreign);
    EXPECT_EQ(give_up(address), Freed::cached);
    EXPECT_EQ(give_up(address), Freed::dead);
    EXPECT_EQ(give_up(address + 8), Freed::dead);
    EXPECT_EQ(give_up(0), Freed::foreign);
    EXPECT_EQ(give_up(77), Freed::foreign);
}

TEST_F(CachePool, NothingAndTooMuchAreUpstreamsToRefuse)
{
    EXPECT_EQ(pool->allocate(0).status, CounterUpstream::kRefused);
    EXPECT_EQ(pool->allocate(~std::uint64_t{0}).status, CounterUpstream::kOutOfMemory);
    EXPECT_EQ(upstream.calls.allocate, 2);
    EXPECT_EQ(upstream.calls.synchronise, 0);
}

TEST_F(CachePool, TrimGivesBackWhatHasPassed)
{
    const Address passed = get(1000), pending = get(2000);
    get(3000);
    retire(passed);
    give_up(pending);
    EXPECT_EQ(pool->releasable_bytes(), 3000u);
    EXPECT_EQ(pool->largest_gap(), 2000u);
    EXPECT_EQ(pool->trim(Release::asked), 1000u);
    ASSERT_EQ(upstream.released.size(), 1u);
    EXPECT_EQ(upstream.released[0].address, passed);
    upstream.synchronise();
    EXPECT_EQ(pool->trim(Release::asked), 2000u);
    EXPECT_EQ(upstream.reserved(), 3000u);
}

TEST_F(CachePool, ActiveIsExactHoweverManyEpochsArePending)
{
    const int other = epochs.add_domain(); // nothing passes
    std::vector<Address> blocks;
    for (int count = 0; count < 300; ++count)
        blocks.push_back(get(1000));
    std::uint64_t half = 0;
    for (int count = 0; count < 300; ++count) {
        pool->free(blocks[static_cast<std::size_t>(count)]);
        const std::uint64_t t = epochs.begin();
        if (count == 149)
            half = t;
    }
    EXPECT_EQ(stats().active.all.current, 300u);
    upstream.synchronise();
    epochs.ended(other, half); // half of them have passed, but none of their sums has
    EXPECT_EQ(pool->validate(), nullptr);
    for (int count = 0; count < 150; ++count)
        EXPECT_TRUE(pool->allocate(1000, false).reused);
    EXPECT_FALSE(pool->allocate(1000, false).reused);
    EXPECT_EQ(stats().active.all.current, 301u);
    EXPECT_EQ(stats().pending_bytes, 150'000u);
    EXPECT_EQ(pool->validate(), nullptr);
    epochs.ended(other, epochs.begin());
    upstream.synchronise();
    EXPECT_EQ(stats().active.all.current, 151u);
}

TEST_F(CachePool, ForgetsAllWithoutACall)
{
    get(1000);
    give_up(get(2000));
    pool->forget_all();
    EXPECT_EQ(stats().reserved_bytes.all.current, 0u);
    EXPECT_EQ(stats().reserved_bytes.all.peak, 3000u);
    EXPECT_EQ(upstream.calls.release, 0);
    get(1000);
}

TEST_F(CachePool, CountsAsPyTorchDoes)
{
    const Address small = get(1 << 20), large = get((1 << 20) + 1);
    give_up(large);
    Stats now = stats();
    EXPECT_EQ(now.allocation.small_pool.current, 1u);
    EXPECT_EQ(now.allocation.large_pool.freed, 1u);
    EXPECT_EQ(now.allocated_bytes.all.peak, (2u << 20) + 1);
    EXPECT_EQ(now.active.all.current, 2u);
    EXPECT_EQ(now.segment.all.current, 2u);
    EXPECT_EQ(now.num_device_alloc, 2u);
    upstream.synchronise();
    EXPECT_EQ(stats().active.all.current, 1u);
    EXPECT_EQ(stats().cached_bytes, (1u << 20) + 1);
    pool->reset_peaks();
    EXPECT_EQ(stats().allocated_bytes.all.peak, 1u << 20);
    EXPECT_EQ(stats().allocated_bytes.large_pool.peak, 0u);
    give_up(small);
    pool->reset_peaks();
    EXPECT_EQ(stats().allocated_bytes.small_pool.peak, 0u);
    EXPECT_EQ(stats().allocated_bytes.all.current, 0u);
}
