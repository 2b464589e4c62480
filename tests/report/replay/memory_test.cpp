// tests/report/replay/memory_test.cpp — each device's waterfall at each moment, and what is kept.
#include "report/replay/memory.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/replay.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::replay;
using test::report_of;
using test::operator""_KiB;
using test::operator""_MiB;
using test::operator""_GiB;

Waterfall last(const LogBuilder& log, std::int32_t device = 0)
{
    Waterfall parts;
    replay(log, [&](const Record&, const test::Replayed& replayed) {
        const DeviceMemory& memory = replayed.memory;
        for (const DeviceMemory::Device& one : memory.devices())
            EXPECT_TRUE(memory.now(one).adds_up());
        if (const DeviceMemory::Device* const found = memory.device(device))
            parts = memory.now(*found);
    });
    return parts;
}

LogBuilder on_device(std::int64_t device = 0)
{
    LogBuilder log = test::program_with_stacks();
    log.context(1, device).place({.context = 1, .device = device});
    return log;
}

TEST(DeviceMemory, WithoutAPoolAllIsDirect)
{
    LogBuilder log = on_device();
    log.alloc(0x1000, 300).alloc(0x2000, 500).alloc(0x9000, 7000, 0, "cuMemHostAlloc").free(0x1000);
    const Waterfall parts = last(log);
    EXPECT_EQ(parts.requested, 500u);
    EXPECT_EQ(parts.direct, 500u);
    EXPECT_EQ(parts.allocated, 500u);
    EXPECT_EQ(parts.reserved, 500u);
    EXPECT_EQ(parts.cached(), 0u);
    EXPECT_FALSE(parts.used_known);
}

TEST(DeviceMemory, EachPartOfThePoolIsItsOwn)
{
    LogBuilder log = on_device();
    log.info("pool.mode", "split");
    log.segment(0x10000000, 20_MiB).segment(0x20000000, 2_MiB).segment(0x30000000, 4_MiB);
    log.pooled(0x10000000, 5_MiB - 100, 100).pooled(0x10000000 + 5_MiB, 3_MiB);
    log.pooled(0x30000000, 1_MiB).pooled(0x30000000 + 1_MiB, 1_MiB).free(0x30000000 + 1_MiB);
    log.alloc(0x90000000, 10_MiB, 0, "cuMemAllocManaged");
    const Waterfall parts = last(log);
    EXPECT_EQ(parts.requested, 19_MiB - 100);
    EXPECT_EQ(parts.internal, 100u);
    EXPECT_EQ(parts.allocated, 19_MiB);
    EXPECT_EQ(parts.pending, 1_MiB);
    EXPECT_EQ(parts.stuck, 14_MiB);
    EXPECT_EQ(parts.releasable, 2_MiB);
    EXPECT_EQ(parts.reserved, 36_MiB);
    EXPECT_EQ(parts.direct, 10_MiB);
}

TEST(DeviceMemory, WhatTheDriverCountsBeyondOursMovesAlong)
{
    LogBuilder log = on_device();
    log.alloc(0x1000, 1_GiB).device_memory(20_GiB, 24_GiB).alloc(0x80000000, 2_GiB);
    Waterfall parts = last(log);
    EXPECT_TRUE(parts.used_known);
    EXPECT_EQ(parts.unattributed, 3_GiB);
    EXPECT_EQ(parts.used, 6_GiB);
    log.device_memory(23_GiB, 24_GiB);
    parts = last(log);
    EXPECT_EQ(parts.unattributed, 0u) << "the driver counts less than is ours";
    EXPECT_EQ(parts.used, 3_GiB);
}

TEST(DeviceMemory, AFailureTellsWhatTheDriverCountsUnlessASmallerDeviceIsPlayed)
{
    LogBuilder log = on_device();
    log.alloc(0x1000, 1_GiB).out_of_memory({.requested = 9_GiB, .free = 2_GiB, .total = 8_GiB});
    EXPECT_EQ(last(log).unattributed, 5_GiB);
    LogBuilder limited = on_device();
    limited.info("pool.limit", "8GiB").alloc(0x1000, 1_GiB);
    limited.out_of_memory({.requested = 9_GiB, .free = 2_GiB, .total = 8_GiB});
    EXPECT_FALSE(last(limited).used_known);
}

TEST(DeviceMemory, DevicesAreApartAndOneMayBeUnknown)
{
    LogBuilder log = on_device(3);
    log.alloc(0x1000, 100).place({.context = 2, .device = -1}).alloc(0x2000, 30);
    log.place({.context = 3, .device = INT64_MAX}).alloc(0x3000, 5).context_gone(1);
    EXPECT_EQ(last(log, 3).requested, 0u);
    EXPECT_EQ(last(log, -1).requested, 35u);
    EXPECT_EQ(last(log, 0).requested, 0u);
}

// What no recorder writes: the heap and the pool tell different stories.
TEST(DeviceMemory, AddsUpWhereThePoolAndTheBlocksDisagree)
{
    LogBuilder log = on_device();
    log.pooled(0x5000, 100).segment(0x100000, 1_MiB).pooled(0x100000, 2_MiB, 1_MiB);
    log.pooled(0x180000, 1_MiB).segment(0x140000, 1_MiB).segment_gone(0x100000);
    log.pooled(0x150000, UINT64_MAX, UINT64_MAX).free(0x5000).context_gone(1);
    log.segment(0x100000, 1_MiB, 1, -1).pooled(0x100000, 1_MiB).device_memory(5, 3);
    log.segment(UINT64_MAX - 10, UINT64_MAX).pooled(UINT64_MAX - 5, 3).reusable(UINT64_MAX);
    replay(log, [&](const Record&, const test::Replayed& replayed) {
        const DeviceMemory& memory = replayed.memory;
        for (const DeviceMemory::Device& one : memory.devices())
            EXPECT_TRUE(memory.now(one).adds_up());
    });
}

TEST(DeviceMemory, APeakIsTheFirstMomentOfItsHeight)
{
    LogBuilder log = on_device();
    log.at(log.header().start_ticks + 10'000).alloc(0x1000, 100).alloc(0x2000, 200);
    log.free(0x1000).alloc(0x1000, 100);
    log.free(0x1000).free(0x2000);
    const Report report = report_of(log);
    ASSERT_EQ(report.processes[0].memory.size(), 1u);
    const MemoryReport& device = report.processes[0].memory[0];
    EXPECT_EQ(device.at_peak.parts.allocated, 300u);
    EXPECT_EQ(device.at_peak.ns, 11'000u);
    EXPECT_EQ(device.at_end.parts.allocated, 0u);
    EXPECT_EQ(device.requested.allocated, 400u);
    EXPECT_EQ(device.blocks.peak, 2u);
    EXPECT_FALSE(device.pooled);
}

TEST(DeviceMemory, TheMostReservedIsAMomentOfItsOwn)
{
    LogBuilder log = on_device();
    log.info("pool.mode", "cache");
    log.segment(0x100000, 3_MiB).pooled(0x100000, 3_MiB).free(0x100000).reusable();
    log.segment(0x800000, 1_MiB).pooled(0x800000, 1_MiB);
    const MemoryReport device = report_of(log).processes[0].memory.at(0);
    EXPECT_TRUE(device.pooled);
    EXPECT_EQ(device.peak_allocated(), 3_MiB);
    EXPECT_EQ(device.peak_reserved(), 4_MiB);
    EXPECT_EQ(device.at_reserved_peak.parts.releasable, 3_MiB) << "the block that it was for is in";
    EXPECT_DOUBLE_EQ(device.utilisation_of_peaks(), 0.75);
    EXPECT_DOUBLE_EQ(device.utilisation_at_reserved_peak(), 0.25);
    EXPECT_EQ(device.free_at_end.pieces, 1u);
    EXPECT_EQ(device.free_at_end.largest_request, 3_MiB);
    EXPECT_DOUBLE_EQ(device.free_at_end.unusable_for_largest, 0);
}

TEST(DeviceMemory, MarksHaveTheirWaterfallsTheFirstOfThem)
{
    LogBuilder log = on_device();
    log.alloc(0x1000, 100).mark("one").alloc(0x2000, 200);
    for (int at = 0; at < 100; ++at)
        log.mark("more");
    const MemoryReport device = report_of(log).processes[0].memory.at(0);
    ASSERT_EQ(device.at_marks.size(), kMostMarkedMoments);
    EXPECT_EQ(device.at_marks[0].mark, "one");
    EXPECT_EQ(device.at_marks[0].parts.requested, 100u);
    EXPECT_EQ(device.at_marks[1].parts.requested, 300u);
}

TEST(DeviceMemory, AFailureHasTheWaterfallAndThePiecesOfItsMoment)
{
    LogBuilder log = on_device();
    log.info("pool.mode", "split").segment(0x10000000, 20_MiB).segment(0x20000000, 20_MiB);
    log.pooled(0x10000000 + 8_MiB, 2_MiB).pooled(0x20000000 + 12_MiB, 4_MiB);
    log.out_of_memory({.requested = 11_MiB,
                       .free = 1_MiB,
                       .total = 100_MiB,
                       .allocated = 6_MiB,
                       .reserved = 40_MiB,
                       .largest_gap = 12_MiB});
    log.free(0x10000000 + 8_MiB);
    const Shortage shortage = report_of(log).shortages.at(0);
    EXPECT_TRUE(shortage.parts.adds_up());
    EXPECT_EQ(shortage.parts.stuck, 34_MiB);
    EXPECT_EQ(shortage.parts.used, 99_MiB);
    EXPECT_EQ(shortage.free_pieces, 4u); // 8, 10, 12 and 4 MiB
    EXPECT_EQ(shortage.free_bytes, 34_MiB);
    EXPECT_NEAR(shortage.unusable, 1 - 11.0 / 34, 1e-9);
    EXPECT_DOUBLE_EQ(shortage.fragmentation, -1);
    EXPECT_EQ(shortage.map.size(), 64u);
}

TEST(DeviceMemory, TheTimelineHasWhatTheDriverSaidWhereItWasAsked)
{
    LogBuilder log = on_device();
    log.at(1'000'000).alloc(0x1000, 1_MiB).at(3'000'000).device_memory(1_GiB, 2_GiB);
    log.at(5'000'000).free(0x1000);
    const MemoryReport device = report_of(log).processes[0].memory.at(0);
    ASSERT_EQ(device.timeline.size(), 3u);
    EXPECT_FALSE(device.timeline[0].used.has_value());
    EXPECT_EQ(device.timeline[1].used, 1_GiB);
    EXPECT_EQ(device.timeline[1].allocated, 1_MiB) << "as it was before";
    EXPECT_EQ(device.timeline[2].allocated, 0u);
}

} // namespace
} // namespace vramscope::report
