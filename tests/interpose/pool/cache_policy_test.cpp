// tests/interpose/pool/cache_policy_test.cpp — whole segments by their exact size, kept and handed
// out again.
#include "interpose/pool/cache_policy.hpp"

#include <gtest/gtest.h>

#include "interpose/pool/pool.hpp"
#include "tests/interpose/pool/upstreams.hpp"

using namespace vramscope;
using namespace vramscope::pool;
using test::CounterUpstream;

namespace {

struct CachePool : testing::Test {
    ~CachePool() override { EXPECT_EQ(pool.validate(), nullptr); }

    Address get(std::uint64_t bytes)
    {
        const Allocation answer = pool.allocate(bytes);
        EXPECT_EQ(answer.status, 0);
        EXPECT_EQ(pool.validate(), nullptr);
        return answer.address;
    }

    Epochs epochs;
    CounterUpstream upstream{epochs};
    Pool<CounterUpstream, CachePolicy> pool{upstream, epochs, {}};
};

} // namespace

TEST_F(CachePool, AFreedBlockServesTheSameSizeOnceItHasPassed)
{
    const Address first = get(1000);
    EXPECT_EQ(pool.free(first), Freed::cached);
    upstream.synchronise();
    const Allocation again = pool.allocate(1000);
    EXPECT_EQ(again.address, first);
    EXPECT_TRUE(again.reused);
    EXPECT_EQ(again.block_bytes, 1000u);
    EXPECT_EQ(upstream.calls.allocate, 1);
}

TEST_F(CachePool, NoBlockServesAnotherSize)
{
    pool.free(get(1000));
    upstream.synchronise();
    get(999);
    get(1001);
    EXPECT_EQ(upstream.calls.allocate, 3);
}

TEST_F(CachePool, APendingBlockIsWaitedForRatherThanReplaced)
{
    const Address first = get(1000);
    pool.free(first);
    EXPECT_EQ(pool.find(first).state, State::pending);
    EXPECT_EQ(get(1000), first);
    EXPECT_EQ(upstream.calls.synchronise, 1);
    EXPECT_EQ(upstream.calls.allocate, 1);
}

TEST_F(CachePool, NobodyWaitsWhoMayNotCall)
{
    const Address first = get(1000);
    pool.free(first);
    EXPECT_NE(pool.allocate(1000, false).address, first);
    EXPECT_EQ(upstream.calls.synchronise, 0);
}
