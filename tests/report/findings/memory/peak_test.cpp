// tests/report/findings/memory/peak_test.cpp — what was held at the peak, and what needlessly.
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "report/findings/memory/memory.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

LogBuilder program_with_peak()
{
    return test::program_with_stacks().place({.context = 1, .device = 0});
}

MemoryReport device_of(const LogBuilder& log, std::int32_t device = 0)
{
    const Report report = report_of(log);
    for (const MemoryReport& one : report.processes.at(0).memory) {
        if (one.device == device)
            return one;
    }
    ADD_FAILURE() << "no such device";
    return {};
}

// Each list is a partition of the whole.
void expect_sums(const Peak& peak)
{
    std::uint64_t bytes = peak.more_bytes;
    std::uint64_t blocks = peak.more_blocks;
    for (const PeakStack& row : peak.stacks) {
        bytes += row.bytes;
        blocks += row.blocks;
    }
    EXPECT_EQ(bytes, peak.bytes);
    EXPECT_EQ(blocks, peak.blocks);
    for (const auto* const parts : {&peak.modules, &peak.phases, &peak.apis}) {
        std::uint64_t sum = 0;
        for (const PeakPart& part : *parts)
            sum += part.bytes;
        EXPECT_EQ(sum, peak.bytes);
    }
}

std::uint64_t offset_of_place(const CallPlace& place)
{
    return place.stack.empty() ? 0 : place.stack.front().offset & ~0xfffu;
}

TEST(Peak, HasWhatWasThereWhenTheMostWasAndNotWhatCameOrWentLater)
{
    LogBuilder log = program_with_peak();
    log.alloc(0x1000, 300, 1).alloc(0x2000, 500, 2).alloc(0x3000, 100, 1);
    log.free(0x2000).alloc(0x4000, 200, 3).free(0x1000).alloc(0x5000, 50, 2);
    log.alloc(0x9000, 9000, 4, "cuMemHostAlloc");
    const Peak peak = device_of(log).peak;
    EXPECT_EQ(peak.bytes, 900u);
    ASSERT_EQ(peak.stacks.size(), 2u);
    EXPECT_EQ(peak.stacks[0].bytes, 500u);
    EXPECT_EQ(offset_of_place(peak.stacks[0]), 0x2000u);
    EXPECT_EQ(peak.stacks[1].bytes, 400u);
    EXPECT_EQ(peak.stacks[1].blocks, 2u);
    expect_sums(peak);
}

TEST(Peak, OfEachDeviceIsItsOwn)
{
    LogBuilder log = program_with_peak();
    log.alloc(0x1000, 300, 1).place({.context = 2, .device = 1}).alloc(0x2000, 70, 1);
    log.place({.context = 1, .device = 0}).free(0x1000);
    log.place({.context = 2, .device = 1}).alloc(0x4000, 5, 2).context_gone(2);
    EXPECT_EQ(device_of(log, 0).peak.bytes, 300u);
    EXPECT_EQ(device_of(log, 1).peak.bytes, 75u);
    EXPECT_EQ(device_of(log, 1).peak.stacks.size(), 2u);
}

TEST(Peak, IsToldByPhaseAndByCall)
{
    LogBuilder log = program_with_peak();
    log.push("epoch 1").push("step 1").alloc(0x1000, 300, 1).pop().push("step 2");
    log.alloc(0x2000, 200, 1).pop().pop().alloc(0x3000, 10, 1, "cuMemAllocManaged");
    const Peak peak = device_of(log).peak;
    ASSERT_EQ(peak.phases.size(), 2u);
    EXPECT_EQ(peak.phases[0].name, "epoch #/step #");
    EXPECT_EQ(peak.phases[0].bytes, 500u);
    EXPECT_EQ(peak.phases[1].name, "");
    ASSERT_EQ(peak.apis.size(), 2u);
    EXPECT_EQ(peak.apis[0].name, "cuMemAlloc");
    ASSERT_EQ(peak.modules.size(), 1u);
    EXPECT_EQ(peak.modules[0].name, "train");
    EXPECT_EQ(peak.stacks.at(0).phase, "epoch #/step #");
    expect_sums(peak);
}

TEST(Peak, LongListsAreCutAndStillSumUp)
{
    LogBuilder log;
    log.place({.context = 1, .device = 0});
    for (std::uint64_t id = 1; id <= 200; ++id) {
        log.module(id, id << 24, id << 24, (id + 1) << 24, "/lib/m" + std::to_string(id), "b");
        log.stack(id, {(id << 24) + 0x1001});
        log.alloc(id << 20, 1000 + id, id);
    }
    const Peak peak = device_of(log).peak;
    EXPECT_EQ(peak.stacks.size(), kMostPeakStacks);
    EXPECT_EQ(peak.more_stacks, 150u);
    ASSERT_EQ(peak.modules.size(), kMostPeakParts);
    EXPECT_EQ(peak.modules.back().name, kOtherParts);
    expect_sums(peak);
}

// The same sums as a replay that copies all sites at each peak.
TEST(Peak, AgreesWithANaiveCountAtManyPeaks)
{
    LogBuilder log = program_with_peak();
    std::map<std::uint64_t, std::uint64_t> live, at_peak; // by stack
    std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;
    std::uint64_t sum = 0, most = 0, random = 1;
    for (std::uint64_t at = 0; at < 3000; ++at) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const bool free = !blocks.empty() && (random >> 33) % 100 < 48;
        if (free) {
            const std::size_t which = (random >> 40) % blocks.size();
            const auto [address, stack] = blocks[which];
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(which));
            log.free(address);
            const std::uint64_t bytes = 100 + address / 0x1000 % 50;
            live[stack] -= bytes;
            sum -= bytes;
            continue;
        }
        const std::uint64_t stack = 1 + (random >> 50) % 9;
        const std::uint64_t bytes = 100 + (at + 1) % 50;
        log.alloc((at + 1) * 0x1000, bytes, stack);
        blocks.emplace_back((at + 1) * 0x1000, stack);
        live[stack] += bytes;
        sum += bytes;
        if (sum > most) {
            most = sum;
            at_peak = live;
        }
    }
    const Peak peak = device_of(log).peak;
    EXPECT_EQ(peak.bytes, most);
    for (const PeakStack& row : peak.stacks)
        EXPECT_EQ(row.bytes, at_peak[offset_of_place(row) / 0x1000]) << offset_of_place(row);
}

const Advice* advice_of(const MemoryReport& device, AdviceKind kind)
{
    for (const Advice& one : device.advice) {
        if (one.kind == kind)
            return &one;
    }
    return nullptr;
}

TEST(Advice, WhatWasAtThePeakAndIsNeverFreed)
{
    LogBuilder log = program_with_peak();
    log.alloc(0x1000, 10_MiB, 1).alloc(0x2000, 20_MiB, 1).alloc(0x3000, 5_MiB, 2);
    log.free(0x2000).free(0x3000).alloc(0x4000, 1_MiB, 1);
    const MemoryReport device = device_of(log);
    const Advice* const found = advice_of(device, AdviceKind::never_freed);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->saving, 10_MiB);
    EXPECT_EQ(found->blocks, 1u);
    EXPECT_EQ(device.advice.size(), 1u);
    log.header().end = format::End::unknown;
    EXPECT_TRUE(device_of(log).advice.empty()) << "a crash freed nothing";
}

TEST(Advice, ReleasedLateIsWhatOutlivedItsPhaseUntilThePeak)
{
    LogBuilder log = program_with_peak();
    log.push("load").alloc(0x1000, 10_MiB, 1).pop();
    log.push("train").alloc(0x2000, 20_MiB, 2).free(0x1000).free(0x2000).pop();
    const MemoryReport device = device_of(log);
    const Advice* const late = advice_of(device, AdviceKind::released_late);
    ASSERT_TRUE(late);
    EXPECT_EQ(late->saving, 10_MiB);
    EXPECT_EQ(late->phase, "load");
    EXPECT_EQ(device.advice.size(), 1u);
}

TEST(Advice, APhaseThatIsOpenAgainAtThePeakIsNotOver)
{
    LogBuilder log = program_with_peak();
    log.push("step 1").alloc(0x1000, 10_MiB, 1).pop();
    log.push("step 2").alloc(0x2000, 20_MiB, 2).pop().free(0x1000).free(0x2000);
    EXPECT_FALSE(advice_of(device_of(log), AdviceKind::released_late));
}

TEST(Advice, AllocatedEarlyIsWhatOnlyALaterPhaseFrees)
{
    LogBuilder log = program_with_peak();
    log.push("train").alloc(0x1000, 10_MiB, 1).alloc(0x2000, 20_MiB, 2).free(0x2000).pop();
    log.push("evaluate").free(0x1000).pop();
    const MemoryReport device = device_of(log);
    const Advice* const early = advice_of(device, AdviceKind::allocated_early);
    ASSERT_TRUE(early);
    EXPECT_EQ(early->saving, 10_MiB);
    EXPECT_EQ(early->other_phase, "evaluate");
    EXPECT_EQ(device.advice.size(), 1u);
}

// Each frees what its own range allocated, in the later range or when all is over.
TEST(Advice, WhatIsKeptForALaterPhaseIsNotReleasedLate)
{
    for (const bool within : {true, false}) {
        LogBuilder log = program_with_peak();
        log.push("run").push("set up").alloc(0x1000, 10_MiB, 1).pop();
        log.push("train").alloc(0x2000, 20_MiB, 2).free(0x2000).pop().push("evaluate");
        if (within)
            log.free(0x1000).pop().pop();
        else
            log.pop().pop().free(0x1000);
        const MemoryReport device = device_of(log);
        ASSERT_EQ(device.advice.size(), 1u) << within;
        EXPECT_EQ(device.advice[0].kind, AdviceKind::allocated_early) << within;
        EXPECT_EQ(device.advice[0].saving, 10_MiB);
        EXPECT_EQ(device.advice[0].phase, "run/set up");
        EXPECT_EQ(device.advice[0].other_phase, "run/evaluate");
    }
}

// Freed in it or after it: the evaluation of each epoch may use the buffer.
TEST(Advice, OfWhatAKnownPhaseMayUseAgainNothingIsSaid)
{
    for (const bool within : {true, false}) {
        LogBuilder log = program_with_peak();
        log.push("load").alloc(0x1000, 10_MiB, 1).pop();
        for (const std::uint64_t bytes : {20_MiB, 30_MiB}) {
            log.push("train").alloc(0x2000, bytes, 2).free(0x2000).pop().push("evaluate");
            if (within && bytes == 30_MiB)
                log.free(0x1000);
            log.pop();
        }
        if (!within)
            log.free(0x1000);
        EXPECT_TRUE(device_of(log).advice.empty()) << within;
    }
}

TEST(Advice, WhatIsKeptThroughFurtherStepsOfThePeaksPhaseIsReleasedLate)
{
    LogBuilder log = program_with_peak();
    log.push("load").alloc(0x1000, 10_MiB, 1).pop();
    for (const std::uint64_t bytes : {10_MiB, 30_MiB, 20_MiB})
        log.push("train").alloc(0x2000, bytes, 2).free(0x2000).pop();
    const MemoryReport device = device_of(log.free(0x1000));
    ASSERT_EQ(device.advice.size(), 1u);
    EXPECT_EQ(device.advice[0].kind, AdviceKind::released_late);
}

TEST(Advice, WhatBeginsInsideThePhaseOfThePeakIsNoLaterPhase)
{
    LogBuilder log = program_with_peak();
    log.push("load").alloc(0x1000, 10_MiB, 1).pop();
    log.push("train").push("forward").alloc(0x2000, 20_MiB, 2).pop().push("backward").pop();
    log.free(0x2000).pop().free(0x1000);
    const MemoryReport device = device_of(log);
    ASSERT_EQ(device.advice.size(), 1u);
    EXPECT_EQ(device.advice[0].kind, AdviceKind::released_late);
    EXPECT_EQ(device.advice[0].saving, 10_MiB);
}

TEST(Advice, OfOnePlaceABlockMayBeEarlyAndAnotherLate)
{
    LogBuilder log = program_with_peak();
    log.push("load").alloc(0x1000, 10_MiB, 1).alloc(0x5000, 3_MiB, 1).pop();
    log.push("train").alloc(0x2000, 20_MiB, 2).free(0x2000).free(0x5000).pop();
    log.push("evaluate").free(0x1000).pop();
    const MemoryReport device = device_of(log);
    const Advice* const early = advice_of(device, AdviceKind::allocated_early);
    const Advice* const late = advice_of(device, AdviceKind::released_late);
    ASSERT_TRUE(early && late);
    EXPECT_EQ(early->saving, 10_MiB);
    EXPECT_EQ(late->saving, 3_MiB);
    EXPECT_EQ(late->blocks, 1u);
}

TEST(Advice, APhaseThatWasSeenBeforeThePeakIsNoLaterOne)
{
    LogBuilder log = program_with_peak();
    log.push("evaluate").pop().push("train").alloc(0x1000, 10_MiB, 1);
    log.alloc(0x2000, 20_MiB, 2).free(0x2000).pop().push("evaluate").free(0x1000).pop();
    EXPECT_TRUE(device_of(log).advice.empty());
}

TEST(Advice, ABufferThatGrewByCopyHadItsOldBlockBesideIt)
{
    LogBuilder log = program_with_peak();
    log.alloc(0x9000, 100_MiB, 2).alloc(0x1000, 10_MiB, 1);
    log.alloc(0x2000, 20_MiB, 1).free(0x1000).alloc(0x3000, 40_MiB, 1).free(0x2000);
    log.free(0x3000).free(0x9000);
    const MemoryReport device = device_of(log);
    ASSERT_EQ(device.advice.size(), 1u);
    EXPECT_EQ(device.advice[0].kind, AdviceKind::grow_by_copy);
    EXPECT_EQ(device.advice[0].saving, 20_MiB);
}

TEST(Advice, BlocksOfOneSizeDidNotGrow)
{
    LogBuilder log = program_with_peak();
    log.alloc(0x1000, 10_MiB, 1).alloc(0x2000, 10_MiB, 1).free(0x1000).free(0x2000);
    EXPECT_TRUE(device_of(log).advice.empty());
}

TEST(Advice, PairsOfOneSizeInALoopCouldBeKept)
{
    LogBuilder log = program_with_peak();
    for (int at = 0; at < 20; ++at)
        log.alloc(0x1000, 4_MiB, 1).free(0x1000).alloc(0x2000, 1_MiB + at / 2, 2).free(0x2000);
    const MemoryReport device = device_of(log);
    ASSERT_EQ(device.advice.size(), 1u);
    EXPECT_EQ(device.advice[0].kind, AdviceKind::redundant_pairs);
    EXPECT_EQ(device.advice[0].blocks, 19u);
    EXPECT_EQ(device.advice[0].bytes, 4_MiB);
    EXPECT_EQ(device.advice[0].saving, 0u);
}

} // namespace
} // namespace vramscope::report
