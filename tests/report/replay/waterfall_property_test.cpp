// tests/report/replay/waterfall_property_test.cpp — the parts of a device's memory add up.
//
// They do so between any two records of any log, and are those of a plain count.
#include <gtest/gtest.h>

#include "tests/support/random_program.hpp"
#include "tests/support/recount.hpp"
#include "tests/support/replay.hpp"

namespace vramscope::report {
namespace {

using test::Do;
using test::random_program;
using test::Recount;
using test::recount;
using test::replay;
using test::Step;
using test::written;

constexpr std::int32_t kDevices = 2;

// What is known of one device from the steps alone.
struct Plain {
    test::DeviceSums pool;
    std::uint64_t direct = 0;
    std::uint64_t reserved = 0;
    bool sampled = false;
    std::uint64_t unattributed = 0;

    void count(const Recount& counted, std::int32_t device, const Step& last)
    {
        const auto in_pool = counted.pool.find(device);
        const auto past_it = counted.direct.find(device);
        pool = in_pool == counted.pool.end() ? test::DeviceSums{} : in_pool->second;
        direct = past_it == counted.direct.end() ? 0 : past_it->second;
        reserved = pool.reserved + direct;
        if (last.what == Do::sample && last.place.device == device) {
            const std::uint64_t used = test::kDeviceBytes - last.bytes;
            sampled = true;
            unattributed = used - std::min(used, reserved);
        }
    }
};

void expect_same_parts(const Waterfall& parts, const Plain& plain)
{
    EXPECT_TRUE(parts.adds_up());
    EXPECT_EQ(parts.direct, plain.direct);
    EXPECT_EQ(parts.reserved, plain.reserved);
    EXPECT_EQ(parts.releasable, plain.pool.releasable);
    EXPECT_EQ(parts.stuck, plain.pool.stuck);
    EXPECT_EQ(parts.pending, plain.pool.pending);
    EXPECT_EQ(parts.allocated, plain.pool.allocated + plain.direct);
    EXPECT_EQ(parts.requested, plain.pool.requested + plain.direct);
    EXPECT_EQ(parts.used_known, plain.sampled);
    EXPECT_EQ(parts.unattributed, plain.unattributed);
}

TEST(WaterfallProperty, AddsUpAtEveryMomentAndAgreesWithAPlainCount)
{
    for (std::uint32_t seed = 1; seed <= 15; ++seed) {
        // In the order of time, so that each prefix of the list is a moment.
        const std::vector<Step> steps = random_program(seed, {.late_frees = false});
        Plain plain[kDevices];
        Waterfall highest[kDevices];
        std::size_t done = 0;
        replay(written(steps), [&](const Record& record, const test::Replayed& replayed) {
            const DeviceMemory& memory = replayed.memory;
            if (!record.timed || record.ticks < steps.front().ticks ||
                ::testing::Test::HasFailure())
                return;
            ++done;
            SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(done));
            const Recount counted = recount({steps.begin(), steps.begin() + done});
            for (std::int32_t device = 0; device < kDevices; ++device) {
                plain[device].count(counted, device, steps[done - 1]);
                const DeviceMemory::Device* const found = memory.device(device);
                if (!found) {
                    EXPECT_EQ(plain[device].reserved, 0u);
                    continue;
                }
                const Waterfall now = memory.now(*found);
                expect_same_parts(now, plain[device]);
                if (now.allocated > highest[device].allocated)
                    highest[device] = now;
                EXPECT_EQ(found->peak.parts.allocated, highest[device].allocated);
                EXPECT_EQ(found->peak.parts.reserved, highest[device].reserved);
                EXPECT_TRUE(found->peak.parts.adds_up());
                EXPECT_TRUE(found->reserved_peak.parts.adds_up());
            }
        });
        ASSERT_FALSE(HasFailure());
        ASSERT_EQ(done, steps.size());
    }
}

// With late frees and overlapping blocks the numbers are a guess, but their sum is not.
TEST(WaterfallProperty, AddsUpWhateverTheLogSays)
{
    for (std::uint32_t seed = 1; seed <= 40; ++seed)
        replay(written(random_program(seed, {.steps = 500, .nonsense = true})),
               [&](const Record&, const test::Replayed& replayed) {
                   const DeviceMemory& memory = replayed.memory;
                   if (::testing::Test::HasFailure())
                       return;
                   for (const DeviceMemory::Device& device : memory.devices()) {
                       const Waterfall now = memory.now(device);
                       ASSERT_TRUE(now.adds_up()) << "seed " << seed;
                       // No part is below zero.
                       for (const std::uint64_t part :
                            {now.reserved, now.releasable, now.stuck, now.pending, now.allocated,
                             now.internal, now.requested, now.direct, now.unattributed})
                           ASSERT_LT(part, test::kMostNonsense * 500) << "seed " << seed;
                   }
               });
}

} // namespace
} // namespace vramscope::report
