// tests/interpose/pool/several_pools_test.cpp — the pools of one context share their memory.
#include <array>

#include "tests/interpose/pool/pool_fixture.hpp"

using namespace vramscope::pool;
using namespace vramscope::test;

namespace {

// A second pool beside the fixture's own.
template <class Policy>
struct SeveralPools : PoolFixture<Policy> {
    SeveralPools() { make_second({}); }
    ~SeveralPools() override { EXPECT_EQ(second->validate(), nullptr); }

    void make_second(const Options& options)
    {
        this->use(options);
        second = std::make_unique<Pool>(this->upstream, this->epochs, options);
        second->share_with(*this->pool, 1);
    }
    std::array<Stats, 2> both() { return {this->pool->stats(), second->stats()}; }

    using Pool = typename PoolFixture<Policy>::Pool;
    std::unique_ptr<Pool> second;
};

using SeveralCaches = SeveralPools<CachePolicy>;
using SeveralSplit = SeveralPools<SplitPolicy>;

constexpr std::uint64_t kBlock = 3 * kMiB; // a large one, of which a segment has room for six

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

template <class Policy>
struct EverySeveral : SeveralPools<Policy> {
};
using Policies = testing::Types<CachePolicy, SplitPolicy>;
TYPED_TEST_SUITE(EverySeveral, Policies);

} // namespace

TEST_F(SeveralCaches, WhatHasPassedInOneServesTheOther)
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

TEST_F(SeveralCaches, WhatIsLiveOrPendingStays)
{
    const Address live = get(1000), pending = get(2000);
    give_up(pending);
    EXPECT_NE(second->allocate(1000).address, live);
    EXPECT_NE(second->allocate(2000, false).address, pending);
    EXPECT_EQ(pool->find(live).state, State::live);
    EXPECT_EQ(pool->find(pending).state, State::pending);
}

TEST_F(SeveralCaches, APendingBlockOfTheOtherIsWaitedFor)
{
    const Address first = get(1000);
    give_up(first);
    EXPECT_EQ(second->allocate(1000).address, first);
    EXPECT_EQ(upstream.calls.synchronise, 1);
    EXPECT_EQ(upstream.calls.allocate, 1);
}

TEST_F(SeveralCaches, OneIsNotWaitedForWhileLittleIsPending)
{
    make_second({.wait_from_bytes = kMiB});
    give_up(get(1000));
    second->allocate(1000);
    EXPECT_EQ(upstream.calls.synchronise, 0);
    EXPECT_EQ(upstream.calls.allocate, 2);
}

TYPED_TEST(EverySeveral, ASegmentThatMovedCountsOnce)
{
    this->retire(this->get(2 * kMiB));
    const Address again = this->second->allocate(2 * kMiB).address;
    const auto [one, other] = this->both();
    EXPECT_EQ(one.reserved_bytes.all.current, 0u);
    EXPECT_EQ(other.reserved_bytes.all.current, this->upstream.reserved());
    EXPECT_EQ(one.reserved_bytes.all.peak + other.reserved_bytes.all.peak,
              this->upstream.reserved());
    EXPECT_EQ(one.segment.all.allocated + other.segment.all.allocated, 1u);
    EXPECT_EQ(one.segment.all.freed + other.segment.all.freed, 0u);
    EXPECT_EQ(one.num_reused + other.num_reused, 1u);
    EXPECT_EQ(this->second->free(again), Freed::cached);
}

TYPED_TEST(EverySeveral, TheirLiveBlocksHaveDifferentNumbers)
{
    const Address one = this->get(1000), other = this->second->allocate(1000).address;
    EXPECT_NE(this->pool->find(one).serial, this->second->find(other).serial);
}

TYPED_TEST(EverySeveral, WhatMovedAfterAPinIsNotPinned)
{
    this->retire(this->get(1000));
    this->second->pin_live();
    const Address again = this->second->allocate(1000).address;
    EXPECT_EQ(this->upstream.calls.allocate, 1);
    EXPECT_EQ(this->second->free(again), Freed::cached);
}

TEST_F(SeveralSplit, ASegmentInUseStays)
{
    const Address live = get(1000), freed = get(2000);
    retire(freed);
    second->allocate(2000);
    EXPECT_EQ(upstream.calls.allocate, 2);
    EXPECT_EQ(pool->find(live).state, State::live);
    EXPECT_EQ(pool->find(freed).state, State::free);
}

TEST_F(SeveralSplit, ALargeBlockIsTakenFromASegmentInUse)
{
    const Address live = get(kBlock), freed = get(kBlock);
    retire(freed);
    const Allocation again = second->allocate(kBlock);
    EXPECT_EQ(again.address, freed);
    EXPECT_TRUE(again.reused);
    EXPECT_EQ(upstream.calls.allocate, 1);
    EXPECT_EQ(second->free(freed), Freed::foreign);
    EXPECT_EQ(pool->free(freed), Freed::cached);
    EXPECT_EQ(pool->find(live).state, State::live);
}

TEST_F(SeveralSplit, AnyBlockIsTakenFromASegmentInUseOnceMemoryIsShort)
{
    const Address live = get(1000), freed = get(2000);
    retire(freed);
    upstream.capacity = upstream.reserved();
    const Allocation again = second->allocate(2000);
    EXPECT_EQ(again.status, 0);
    EXPECT_TRUE(again.retried);
    EXPECT_EQ(pool->find(again.address).state, State::live);
    EXPECT_EQ(pool->free(live), Freed::cached);
}

TEST_F(SeveralSplit, WhatIsHeldForEverDoesNotMove)
{
    const Address pinned = get(1000), other = get(2000);
    EXPECT_TRUE(pool->pin(pinned));
    give_up(pinned);
    retire(other);
    second->allocate(1000);
    EXPECT_EQ(upstream.calls.allocate, 2);
    EXPECT_EQ(pool->find(pinned).state, State::held);
}

TEST_F(SeveralSplit, WhatOnlyHasToBeJoinedIsNotWaitedFor)
{
    make_second({.wait_from_bytes = kMiB});
    const Address live = get(1000), first = get(900 * kKiB), other = get(900 * kKiB);
    give_up(first);
    retire(other);
    EXPECT_EQ(upstream.calls.synchronise, 1);
    second->allocate(900 * kKiB);
    EXPECT_EQ(upstream.calls.synchronise, 1);
    EXPECT_EQ(pool->free(live), Freed::cached);
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
