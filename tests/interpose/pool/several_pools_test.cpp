// tests/interpose/pool/several_pools_test.cpp — the pools of one context share their memory.
#include <array>

#include "tests/interpose/pool/pool_fixture.hpp"

using namespace vramscope::pool;
using namespace vramscope::test;

namespace {

// A second pool beside the fixture's own.
struct SeveralPools : PoolFixture<CachePolicy> {
    SeveralPools() { make_second({}); }
    ~SeveralPools() override { EXPECT_EQ(second->validate(), nullptr); }

    void make_second(const Options& options)
    {
        use(options);
        second = std::make_unique<Pool>(upstream, epochs, options);
        second->share_with(*pool, 1);
    }
    std::array<Stats, 2> both() { return {pool->stats(), second->stats()}; }

    std::unique_ptr<Pool> second;
};

// The second takes what was given out before.
class Reissuing : public CounterUpstream {
public:
    using CounterUpstream::CounterUpstream;
    Address next = 0;

private:
    Address place(std::uint64_t bytes) override
    {
        return next ? next : CounterUpstream::place(bytes);
    }
};

} // namespace

TEST_F(SeveralPools, WhatHasPassedInOneServesTheOther)
{
    const Address first = get(1000);
    retire(first);
    const Allocation again = second->allocate(1000);
    EXPECT_EQ(again.address, first);
    EXPECT_TRUE(again.reused);
    EXPECT_EQ(upstream.calls.allocate, 1);
    EXPECT_EQ(pool->find(first).state, State::foreign);
    EXPECT_EQ(pool->free(first), Freed::foreign);
    EXPECT_EQ(second->free(first), Freed::cached);
}

TEST_F(SeveralPools, WhatIsLiveOrPendingStays)
{
    const Address live = get(1000), pending = get(2000);
    give_up(pending);
    EXPECT_NE(second->allocate(1000).address, live);
    EXPECT_NE(second->allocate(2000, false).address, pending);
    EXPECT_EQ(pool->find(live).state, State::live);
    EXPECT_EQ(pool->find(pending).state, State::pending);
}

TEST_F(SeveralPools, APendingBlockOfTheOtherIsWaitedFor)
{
    const Address first = get(1000);
    give_up(first);
    EXPECT_EQ(second->allocate(1000).address, first);
    EXPECT_EQ(upstream.calls.synchronise, 1);
    EXPECT_EQ(upstream.calls.allocate, 1);
}

TEST_F(SeveralPools, OneIsNotWaitedForWhileLittleIsPending)
{
    make_second({.wait_from_bytes = kMiB});
    give_up(get(1000));
    second->allocate(1000);
    EXPECT_EQ(upstream.calls.synchronise, 0);
    EXPECT_EQ(upstream.calls.allocate, 2);
}

TEST_F(SeveralPools, ASegmentThatMovedCountsOnce)
{
    retire(get(1000));
    const Address again = second->allocate(1000).address;
    const auto [one, other] = both();
    EXPECT_EQ(one.reserved_bytes.all.current, 0u);
    EXPECT_EQ(other.reserved_bytes.all.current, 1000u);
    EXPECT_EQ(one.reserved_bytes.all.peak + other.reserved_bytes.all.peak, 1000u);
    EXPECT_EQ(one.segment.all.allocated + other.segment.all.allocated, 1u);
    EXPECT_EQ(one.segment.all.freed + other.segment.all.freed, 0u);
    EXPECT_EQ(one.num_reused + other.num_reused, 1u);
    EXPECT_EQ(second->free(again), Freed::cached);
}

TEST_F(SeveralPools, TheirLiveBlocksHaveDifferentNumbers)
{
    const Address one = get(1000), other = second->allocate(1000).address;
    EXPECT_NE(pool->find(one).serial, second->find(other).serial);
}

TEST_F(SeveralPools, WhatMovedAfterAPinIsNotPinned)
{
    retire(get(1000));
    second->pin_live();
    const Address again = second->allocate(1000).address;
    EXPECT_EQ(second->free(again), Freed::cached);
}

TEST(SeveralPoolsReissued, WhatUpstreamGivesOutAgainIsDroppedByTheOthers)
{
    Epochs epochs;
    Reissuing upstream{epochs};
    using Cache = Pool<Reissuing, CachePolicy>;
    Cache pool(upstream, epochs, {}), second(upstream, epochs, {});
    second.share_with(pool, 1);
    upstream.next = pool.allocate(1000).address;
    EXPECT_EQ(second.allocate(2000).address, upstream.next);
    EXPECT_EQ(pool.find(upstream.next).state, State::foreign);
    EXPECT_EQ(pool.stats().reserved_bytes.all.current, 0u);
    EXPECT_TRUE(pool.adopt(upstream.next, 3000));
    EXPECT_EQ(second.find(upstream.next).state, State::foreign);
    EXPECT_EQ(pool.validate(), nullptr);
    EXPECT_EQ(second.validate(), nullptr);
}
