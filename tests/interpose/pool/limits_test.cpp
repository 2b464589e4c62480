// tests/interpose/pool/limits_test.cpp — the limits of what a pool keeps, and short memory.
#include <sys/resource.h>
#include <vector>

#include "tests/interpose/pool/pool_fixture.hpp"

using namespace vramscope::pool;
using namespace vramscope::test;

using CachePool = PoolFixture<CachePolicy>;
using SplitPool = PoolFixture<SplitPolicy>;

TEST_F(CachePool, BeyondMaxCachedWhatWasFreeForLongestGoesBack)
{
    use({.max_cached_bytes = 3000});
    const Address a = get(1000), b = get(2000), c = get(1500);
    EXPECT_EQ(give_up(a), Freed::cached);
    get(10); // time goes by
    EXPECT_EQ(give_up(b), Freed::cached);
    get(20);
    EXPECT_EQ(give_up(c), Freed::surplus);
    pool->settle();
    ASSERT_EQ(upstream.released.size(), 2u);
    EXPECT_EQ(upstream.released[0].address, a);
    EXPECT_EQ(upstream.released[1].address, b);
    EXPECT_EQ(upstream.released[0].why, Release::surplus);
    EXPECT_EQ(stats().num_device_free, 2u);
}

TEST_F(SplitPool, BeyondMaxCachedWholeSegmentsGoBackPendingOrNot)
{
    use({.max_cached_bytes = 2 * kMiB});
    const Address small = get(512), large = get(20 * kMiB);
    EXPECT_EQ(give_up(small), Freed::cached);
    EXPECT_EQ(give_up(large), Freed::surplus);
    pool->settle();
    EXPECT_EQ(pool->validate(), nullptr);
    EXPECT_EQ(upstream.reserved(), 0u); // the oldest first, then the other
    EXPECT_EQ(stats().active_bytes.all.current, 0u);
}

TEST_F(CachePool, WithNothingToKeepEveryFreeGoesBack)
{
    use({.max_cached_bytes = 0});
    EXPECT_EQ(give_up(get(1000)), Freed::surplus);
    pool->settle();
    EXPECT_EQ(upstream.reserved(), 0u);
}

TEST_F(CachePool, UpToItsPeakSizesThatNeverComeAgainDoNotPileUp)
{
    use({.max_cached_bytes = kUpToPeak});
    const std::uint64_t peak = 4000 * kMiB;
    give_up(get(peak));
    for (std::uint64_t size = 100 * kMiB; size < 3000 * kMiB; size += 10'000'000)
        if (give_up(get(size)) == Freed::surplus)
            pool->settle();
    EXPECT_LE(stats().reserved_bytes.all.peak, 2 * peak + kLeastSpare);
    EXPECT_GT(stats().reserved_bytes.all.current, peak / 2);
    EXPECT_EQ(pool->validate(), nullptr);
}

TEST_F(CachePool, UpToItsPeakNothingGoesBackThatIsUsedAgain)
{
    use({.max_cached_bytes = kUpToPeak, .wait_from_bytes = 100 * kMiB});
    for (int step = 0; step < 5; ++step) {
        std::vector<Address> blocks;
        for (std::uint64_t i = 1; i <= 10; ++i)
            blocks.push_back(get(i * 100 * kMiB));
        for (const Address block : blocks)
            EXPECT_EQ(give_up(block), Freed::cached);
    }
    EXPECT_EQ(upstream.calls.release, 0);
}

TEST_F(CachePool, NoMoreIsReservedThanAllowed)
{
    use({.allowed_bytes = 100});
    const Address first = get(60);
    get(40);
    const int calls = upstream.calls.allocate;
    EXPECT_EQ(pool->allocate(1).status, CounterUpstream::kOutOfMemory);
    EXPECT_EQ(upstream.calls.allocate, calls);
    give_up(first);
    EXPECT_EQ(pool->allocate(50).status, 0); // what was free went back
    EXPECT_EQ(stats().num_ooms, 1u);
    EXPECT_EQ(stats().num_alloc_retries, 2u);
}

TEST_F(CachePool, ShortMemoryIsWaitedForGivenBackAndAskedForOnceMore)
{
    upstream.capacity = 3000;
    const Address passed = get(1000), pending = get(1500);
    retire(passed);
    give_up(pending);
    const Allocation answer = pool->allocate(2500);
    EXPECT_EQ(answer.status, 0);
    EXPECT_TRUE(answer.retried);
    EXPECT_FALSE(answer.reused);
    EXPECT_EQ(upstream.calls.synchronise, 2); // retire()'s and the pool's
    EXPECT_EQ(upstream.calls.make_room, 1);
    EXPECT_EQ(upstream.calls.allocate, 4);
    EXPECT_EQ(upstream.released.at(0).why, Release::pressure);
    EXPECT_EQ(stats().num_alloc_retries, 1u);
}

TEST_F(CachePool, OneWaitServesMany)
{
    use({.wait_from_bytes = 4000});
    for (int call = 0; call < 40; ++call)
        give_up(get(1000));
    EXPECT_EQ(upstream.calls.allocate, 4);
    EXPECT_EQ(upstream.calls.synchronise, 9);
}

TEST_F(CachePool, NoMoreThan32BlocksOfASizeAreTakenRatherThanWaitedFor)
{
    use({.wait_from_bytes = 1000 * kMiB});
    for (int call = 0; call < 65; ++call)
        give_up(get(1000));
    EXPECT_EQ(upstream.calls.allocate, 32);
    EXPECT_EQ(upstream.calls.synchronise, 2);
}

TEST_F(SplitPool, OneWaitServesMany)
{
    use({.wait_from_bytes = 4 * kMiB});
    for (int call = 0; call < 80; ++call)
        give_up(get(512 * kKiB));
    EXPECT_EQ(upstream.calls.allocate, 2);
    EXPECT_EQ(upstream.calls.synchronise, 9);
}

TEST_F(CachePool, WhereLittleIsKeptItIsWaitedForSooner)
{
    use({.max_cached_bytes = 4000, .wait_from_bytes = 1000 * kMiB});
    for (int call = 0; call < 40; ++call)
        EXPECT_EQ(give_up(get(1000)), Freed::cached);
    EXPECT_EQ(upstream.calls.allocate, 2);
}

TEST_F(CachePool, ShortMemoryIsWaitedForHoweverLittleIsPending)
{
    use({.wait_from_bytes = 4000});
    upstream.capacity = 1500;
    const Address address = get(1000);
    give_up(address);
    EXPECT_EQ(get(1000), address);
}

TEST_F(CachePool, OthersMakeRoomToo)
{
    Pool other(upstream, epochs, {});
    upstream.capacity = 3000;
    const Address theirs = other.allocate(2000).address;
    other.free(theirs);
    upstream.synchronise();
    upstream.on_make_room = [&] { other.trim(Release::pressure); };
    EXPECT_EQ(pool->allocate(2000).status, 0);
}

TEST_F(CachePool, WhatNothingHelpsIsUpstreamsAnswer)
{
    upstream.capacity = 3000;
    const Allocation answer = pool->allocate(4000);
    EXPECT_EQ(answer.status, CounterUpstream::kOutOfMemory);
    EXPECT_TRUE(answer.retried);
    EXPECT_EQ(upstream.calls.allocate, 2);
    EXPECT_EQ(stats().num_ooms, 1u);
}

TEST_F(CachePool, BeyondTheThresholdWhatWasUnusedForLongerThanMostGoesBack)
{
    use({.garbage_collection_threshold = 0.5, .allowed_bytes = 1000});
    const Address young = get(200), old = get(300);
    retire(old);
    for (int searches = 0; searches < 10; ++searches)
        retire(get(100));
    retire(young);
    get(50); // 600 of 1000 are reserved
    ASSERT_EQ(upstream.released.size(), 1u);
    EXPECT_EQ(upstream.released[0].address, old);
    EXPECT_EQ(upstream.released[0].why, Release::collected);
}

TEST_F(SplitPool, BeyondTheThresholdLargeSegmentsGoBack)
{
    use({.garbage_collection_threshold = 0.5, .allowed_bytes = 100 * kMiB});
    retire(get(512));
    const Address large = get(60 * kMiB);
    retire(large);
    get(70 * kMiB);
    ASSERT_EQ(upstream.released.size(), 1u);
    EXPECT_EQ(upstream.released[0].address, large);
}

TEST_F(CachePool, BelowTheThresholdNothingGoesBack)
{
    use({.garbage_collection_threshold = 0.5, .allowed_bytes = 1000});
    retire(get(300));
    get(150);
    EXPECT_EQ(upstream.calls.release, 0);
}

TEST_F(CachePool, WhatUpstreamRefusesToTakeBackIsForgotten)
{
    pool->adopt(0x5000, 1000); // upstream does not know it
    retire(0x5000);
    EXPECT_EQ(pool->trim(Release::asked), 0u);
    EXPECT_EQ(pool->find(0x5000).state, State::foreign);
    EXPECT_EQ(stats().num_refused_frees, 1u);
}

namespace {

// In a child with no more memory than it has: the tables cannot grow.
template <class Policy>
void allocate_without_tables()
{
    Epochs epochs;
    CounterUpstream upstream(epochs);
    Pool<CounterUpstream, Policy> pool(upstream, epochs, {});
    std::vector<Address> blocks;
    blocks.reserve(100'000);
    const Address first = pool.allocate(3 * kMiB).address;
    upstream.remember = false; // from here on only the pool's tables need memory
    const rlimit none{.rlim_cur = 1, .rlim_max = 1};
    ::setrlimit(RLIMIT_AS, &none);
    for (std::uint64_t bytes = 1; bytes < 100'000; ++bytes) {
        const Allocation answer = pool.allocate(4 * kMiB + bytes * 512);
        if (answer.status != 0 || answer.address == 0)
            std::_Exit(1);
        if (!answer.pooled) // answered all the same; and it goes on with what it has
            std::_Exit(pool.free(answer.address) == Freed::foreign &&
                               pool.free(first) == Freed::cached && !pool.validate()
                           ? 0
                           : 2);
    }
    std::_Exit(3);
}

} // namespace

TEST(PoolWithoutMemory, AnswersWithWhatItWillNotKnow)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer needs address space";
#endif
    EXPECT_EXIT(allocate_without_tables<CachePolicy>(), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(allocate_without_tables<SplitPolicy>(), testing::ExitedWithCode(0), "");
}
