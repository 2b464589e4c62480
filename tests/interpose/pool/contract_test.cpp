// tests/interpose/pool/contract_test.cpp — what every pool keeps, whatever its policy and memory.
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/split_policy.hpp"
#include "tests/interpose/pool/checked_pool.hpp"

using namespace vramscope;
using namespace vramscope::pool;
using namespace vramscope::test;

namespace {

template <class U, class P>
struct Combination {
    using Upstream = U;
    using Policy = P;
};

template <class T>
struct Contract : testing::Test {
    using Checked = CheckedPool<typename T::Upstream, typename T::Policy>;

    static void play(Checked& checked, std::uint64_t seed, int steps)
    {
        std::mt19937_64 random(seed);
        for (int step = 0; step < steps; ++step)
            checked.step([&] { return random() >> 3; });
        checked.finish();
    }
};

using Combinations = testing::Types<
    Combination<CounterUpstream, CachePolicy>, Combination<CounterUpstream, SplitPolicy>,
    Combination<FailingUpstream, CachePolicy>, Combination<FailingUpstream, SplitPolicy>,
    Combination<ScatteredUpstream, CachePolicy>, Combination<ScatteredUpstream, SplitPolicy>>;
TYPED_TEST_SUITE(Contract, Combinations);

std::vector<Options> options_to_try()
{
    Options split_few{.max_split_bytes = 20 << 20};
    Options rounded{.max_cached_bytes = 24 << 20};
    rounded.roundup_power2_divisions.fill(4);
    Options collecting{.garbage_collection_threshold = 0.5, .allowed_bytes = 200 << 20};
    return {
        {}, split_few, rounded, collecting, {.max_cached_bytes = 0}, {.wait_from_bytes = 64 << 20}};
}

} // namespace

TYPED_TEST(Contract, HoldsThroughRandomCalls)
{
    for (const Options& options : options_to_try()) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            typename TestFixture::Checked checked(options);
            ASSERT_NO_THROW(this->play(checked, seed, 1500)) << "seed " << seed;
        }
    }
}

TYPED_TEST(Contract, HoldsWhicheverCallFails)
{
    if constexpr (std::is_same_v<typename TypeParam::Upstream, FailingUpstream>) {
        for (int fail_at = 1; fail_at <= 120; ++fail_at) {
            for (const int failure : {FailingUpstream::kRefused, FailingUpstream::kOutOfMemory}) {
                typename TestFixture::Checked checked;
                checked.upstream.fail_at = fail_at;
                checked.upstream.failure = failure;
                ASSERT_NO_THROW(this->play(checked, 3, 300)) << "call " << fail_at;
                ASSERT_GE(checked.upstream.made, fail_at);
            }
        }
    }
}
