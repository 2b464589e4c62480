// tests/report/plan/replay_test.cpp — what a replay tells, and the smallest device that serves it.
#include <gtest/gtest.h>

#include "report/plan/replay/smallest_card.hpp"
#include "tests/report/plan/requests.hpp"

namespace vramscope::test {
namespace {

TEST(PlanReplay, TellsThePeakAndWhatWasInIt)
{
    Requests requests;
    const BlockId first = requests.allocate(3_MiB);
    requests.allocate(1);
    requests.free(first);
    requests.allocate(100);
    const Outcome outcome = requests.play("torch");
    EXPECT_EQ(outcome.peak.reserved, 22_MiB);
    EXPECT_EQ(outcome.peak.request, 1u);
    EXPECT_EQ(outcome.peak.allocated, 3_MiB + 512);
    EXPECT_EQ(outcome.peak.requested, 3_MiB + 1);
    EXPECT_EQ(outcome.peak.internal(), 511u);
    EXPECT_EQ(outcome.peak.external(), 19_MiB - 512);
    EXPECT_EQ(outcome.peak_allocated, 3_MiB + 512);
    EXPECT_EQ(outcome.device_calls, 2u);
}

TEST(PlanReplay, TellsWhereMemoryRanOut)
{
    Requests requests;
    requests.allocate(12_MiB);
    const BlockId failed = requests.allocate(40_MiB);
    requests.free(failed); // it is not there: this asks nothing
    requests.allocate(3_MiB);
    const Outcome outcome = requests.play("torch", 40_MiB);
    ASSERT_TRUE(outcome.out_of_memory);
    EXPECT_EQ(outcome.shortages, 1u);
    EXPECT_EQ(outcome.out_of_memory->request, 1u);
    EXPECT_EQ(outcome.out_of_memory->block, failed);
    EXPECT_EQ(outcome.out_of_memory->bytes, 40_MiB);
    EXPECT_EQ(outcome.out_of_memory->reserved, 12_MiB);
    EXPECT_EQ(outcome.out_of_memory->largest_free, 0u);
    EXPECT_EQ(outcome.peak.reserved, 32_MiB);
}

TEST(PlanReplay, WhatOthersHaveIsNotThere)
{
    Requests requests;
    requests.trace.base_bytes = 10_MiB;
    const BlockId beside = requests.allocate(20_MiB);
    requests.trace.requests.back().action = Action::take_beside;
    requests.allocate(12_MiB);
    EXPECT_TRUE(requests.play("torch", 40_MiB).out_of_memory);
    EXPECT_FALSE(requests.play("torch", 42_MiB).out_of_memory);
    requests.free(beside);
    requests.trace.requests.back().action = Action::give_beside;
    requests.trace.requests.back().bytes = 20_MiB;
    requests.allocate(20_MiB);
    EXPECT_FALSE(requests.play("torch", 42_MiB).out_of_memory);
    const auto failed = requests.play("torch", 28_MiB).out_of_memory;
    ASSERT_TRUE(failed);
    EXPECT_TRUE(failed->is_beside);
}

TEST(PlanReplay, StartsWithWhatWasThere)
{
    Requests requests;
    requests.trace.at_start = {{.address = 0x100000000,
                                .bytes = 20_MiB,
                                .blocks = {{.block = 0, .offset = 0, .bytes = 15_MiB}}}};
    requests.trace.sites = {0};
    requests.free(0);
    requests.allocate(20_MiB);
    EXPECT_EQ(requests.play("torch").peak.reserved, 20_MiB);
    EXPECT_EQ(requests.play("none").peak.reserved, 20_MiB);
    EXPECT_EQ(requests.play("none").peak.requested, 20_MiB);
    const auto failed = requests.play("torch", 18_MiB).out_of_memory;
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->request, 0u);
    EXPECT_EQ(failed->bytes, 0u);
}

TEST(SmallestCard, IsWhereAFlushIsEnough)
{
    // 20 MiB that are free are in the way of 30, until a flush: 36 MiB hold 6 and 30.
    Requests requests;
    requests.trace.base_bytes = 100_MiB;
    requests.allocate(3_MiB); // its segment of 20 MiB stays
    requests.free(requests.allocate(22_MiB));
    requests.allocate(30_MiB);
    const PolicyRow torch = policy_of("torch");
    const auto card = smallest_card(requests.trace, torch, replay(requests.trace, torch));
    ASSERT_TRUE(card);
    EXPECT_EQ(card->bytes, 150_MiB);
    EXPECT_EQ(card->outcome.retries, 1u);
    EXPECT_EQ(card->outcome.peak.reserved, 50_MiB);
    EXPECT_FALSE(card->fails_above);
}

TEST(SmallestCard, ServesTheTraceAnd2MiBLessDoNot)
{
    for (const PolicyRow& row : usual_policies()) {
        Requests requests = random_requests(3, 2000);
        requests.trace.base_bytes = 33_MiB;
        const Outcome unlimited = replay(requests.trace, row);
        const auto card = smallest_card(requests.trace, row, unlimited);
        ASSERT_TRUE(card) << row.name;
        const std::uint64_t parts = row.name == "rmm-arena" ? 2 : 1; // of the device, it takes one
        EXPECT_LE(card->bytes, parts * unlimited.peak.reserved + 35_MiB) << row.name;
        EXPECT_FALSE(requests.play(row.name, card->bytes).out_of_memory) << row.name;
        EXPECT_TRUE(requests.play(row.name, card->bytes - 2_MiB).out_of_memory) << row.name;
    }
}

} // namespace
} // namespace vramscope::test
