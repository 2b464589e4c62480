// tests/interpose/pool/pool_fixture.hpp — a pool over a counter, validated after each call.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/pool.hpp"
#include "interpose/pool/split_policy.hpp"
#include "tests/interpose/pool/cache_validate.hpp"
#include "tests/interpose/pool/split_validate.hpp"
#include "tests/interpose/pool/upstreams.hpp"

namespace vramscope::test {

inline constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

template <class Policy>
struct PoolFixture : testing::Test {
    ~PoolFixture() override { EXPECT_EQ(pool->validate(), nullptr); }

    void use(const pool::Options& options)
    {
        pool = std::make_unique<Pool>(upstream, epochs, options);
    }

    pool::Address get(std::uint64_t bytes)
    {
        const pool::Allocation answer = pool->allocate(bytes);
        EXPECT_EQ(answer.status, 0);
        EXPECT_EQ(pool->validate(), nullptr);
        return answer.address;
    }
    pool::Freed give_up(pool::Address address)
    {
        const pool::Freed answer = pool->free(address);
        EXPECT_EQ(pool->validate(), nullptr);
        return answer;
    }
    // Freed, and safe to hand out.
    void retire(pool::Address address)
    {
        EXPECT_EQ(give_up(address), pool::Freed::cached);
        upstream.synchronise();
    }
    pool::Stats stats() { return pool->stats(); }

    using Pool = pool::Pool<CounterUpstream, Policy>;
    pool::Epochs epochs;
    CounterUpstream upstream{epochs};
    std::unique_ptr<Pool> pool = std::make_unique<Pool>(upstream, epochs, pool::Options{});
};

} // namespace vramscope::test
