// tests/report/replay/pool/segment_replay_test.cpp — what the internal pool held at each moment.
#include "report/replay/pool/segment_replay.hpp"

#include <gtest/gtest.h>

#include "tests/support/replay.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;

constexpr std::uint64_t kMiB = 1 << 20;

// Calls `after` when a record that has a time was replayed.
template <typename After>
void at_each_moment(const LogBuilder& log, After after)
{
    test::replay(log, [&](const Record& record, const test::Replayed& replayed) {
        if (record.timed)
            after(replayed.segments);
    });
}

DevicePool last(const LogBuilder& log, std::int32_t device = 0)
{
    DevicePool pool;
    at_each_moment(log, [&](const SegmentReplay& replay) {
        if (const DevicePool* const found = replay.device(device))
            pool = *found;
    });
    return pool;
}

LogBuilder splitting()
{
    LogBuilder log;
    log.info("pool.mode", "split").context(1);
    return log;
}

TEST(SegmentReplay, AFreedBlockStaysReservedAndIsActiveUntilItMayBeReused)
{
    LogBuilder log;
    log.info("pool.mode", "cache").context(1);
    log.segment(0x10000, 4 * kMiB).pooled(0x10000, 4 * kMiB - 100, 100).free(0x10000).reusable(500);
    std::vector<std::uint64_t> allocated, active, reserved, requested;
    at_each_moment(log, [&](const SegmentReplay& replay) {
        const PoolStats& stats = replay.device(0)->stats;
        allocated.push_back(stats.allocated_bytes.all.current);
        active.push_back(stats.active_bytes.all.current);
        reserved.push_back(stats.reserved_bytes.large_pool.current);
        requested.push_back(stats.requested_bytes.all.current);
    });
    using List = std::vector<std::uint64_t>;
    EXPECT_EQ(reserved, (List{4 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB}));
    EXPECT_EQ(allocated, (List{0, 4 * kMiB, 0, 0}));
    EXPECT_EQ(requested, (List{0, 4 * kMiB - 100, 0, 0}));
    EXPECT_EQ(active, (List{0, 4 * kMiB, 4 * kMiB, 0}));
}

TEST(SegmentReplay, OnlyWhatWasFreedBeforeTheMomentMayBeReused)
{
    LogBuilder log = splitting();
    log.segment(0x100000, 2 * kMiB).pooled(0x100000, 512).pooled(0x100200, 512);
    log.free(0x100000).free(0x100200); // 1000 ticks apart
    log.reusable(1500);
    const PoolStats stats = last(log).stats;
    EXPECT_EQ(stats.active.all.current, 1u);
    EXPECT_EQ(stats.allocation.all.current, 0u);
    EXPECT_EQ(stats.allocation.all.freed, 2u);
}

TEST(SegmentReplay, CountsTheFreePiecesOfSplitSegments)
{
    LogBuilder log = splitting();
    log.segment(0x100000, 2 * kMiB);
    EXPECT_EQ(last(log).stats.inactive_split.all.current, 0u);
    log.pooled(0x100400, 512);
    EXPECT_EQ(last(log).stats.inactive_split.all.current, 2u);
    EXPECT_EQ(last(log).stats.inactive_split_bytes.small_pool.current, 2 * kMiB - 512);
    log.pooled(0x100000, 1024);
    EXPECT_EQ(last(log).stats.inactive_split.all.current, 1u);
    log.free(0x100000).free(0x100400).reusable();
    const PoolStats stats = last(log).stats;
    EXPECT_EQ(stats.inactive_split.all.current, 0u);
    EXPECT_EQ(stats.inactive_split_bytes.all.current, 0u);
    EXPECT_EQ(stats.inactive_split_bytes.all.peak, 2 * kMiB - 512);
}

TEST(SegmentReplay, AContextTakesItsSegmentsAlong)
{
    LogBuilder log;
    log.context(1).context(2).segment(0x100000, kMiB, 1).segment(0x800000, kMiB, 2);
    log.pooled(0x100000, kMiB).pooled(0x800000, kMiB).free(0x100000).context_gone(1);
    const PoolStats stats = last(log).stats;
    EXPECT_EQ(stats.segment.all.current, 1u);
    EXPECT_EQ(stats.reserved_bytes.all.current, kMiB);
    EXPECT_EQ(stats.allocated_bytes.all.current, kMiB);
    EXPECT_EQ(stats.active_bytes.all.current, kMiB);
    EXPECT_EQ(stats.num_device_alloc, 2u);
    EXPECT_EQ(stats.num_device_free, 0u);
}

TEST(SegmentReplay, ASegmentThatLeavesTakesItsBlocksOutOfThePool)
{
    LogBuilder log;
    log.segment(0x100000, kMiB).pooled(0x100000, kMiB);
    log.segment_gone(0x100000, format::SegmentEnd::freed).free(0x100000);
    const PoolStats stats = last(log).stats;
    EXPECT_EQ(stats.allocation.all.current, 0u);
    EXPECT_EQ(stats.active.all.current, 0u);
    EXPECT_EQ(stats.allocation.all.freed, 1u);
    EXPECT_EQ(stats.num_device_free, 1u);
    EXPECT_EQ(stats.reserved_bytes.all.peak, kMiB);
}

TEST(SegmentReplay, CountsOfADeviceAreApart)
{
    LogBuilder log;
    log.context(1, 0).context(2, 1).segment(0x100000, kMiB, 1, 0).segment(0x800000, kMiB, 2, -1);
    log.retried(77, 2, 1).reusable(0, true);
    EXPECT_EQ(last(log, 0).stats.reserved_bytes.all.current, kMiB);
    EXPECT_EQ(last(log, 1).stats.reserved_bytes.all.current, kMiB) << "the context's device";
    EXPECT_EQ(last(log, 1).stats.num_alloc_retries, 1u);
    EXPECT_EQ(last(log, 0).stats.num_alloc_retries, 0u);
    EXPECT_EQ(last(log, 0).stats.num_sync_all_streams, 1u);
}

TEST(SegmentReplay, AnOversizeBlockIsOneOfTheSettingsSizeOrMore)
{
    LogBuilder log = splitting();
    log.info("pool.max_split_size_mb", "20").segment(0x1000000, 40 * kMiB);
    log.pooled(0x1000000, 20 * kMiB).pooled(0x1000000 + 20 * kMiB, 19 * kMiB);
    const PoolStats stats = last(log).stats;
    EXPECT_EQ(stats.oversize_allocations.current, 1u);
    EXPECT_EQ(stats.oversize_segments.current, 1u);
}

TEST(SegmentReplay, AGuardedBlockBeginsBeforeItsAddress)
{
    LogBuilder log = splitting();
    log.info("pool.guard", "on").segment(0x100000, 2 * kMiB);
    log.pooled(0x100200, 1000, 1048).pooled(0x100a00, 2 * kMiB - 3072, 1024);
    EXPECT_EQ(last(log).stats.inactive_split.all.current, 0u);
    EXPECT_EQ(last(log).stats.allocated_bytes.all.current, 2 * kMiB);
    log.free(0x100200);
    EXPECT_EQ(last(log).stats.allocated_bytes.all.current, 2 * kMiB - 2048);
}

TEST(SegmentReplay, WhatComesLateIsOfTheTimeBefore)
{
    LogBuilder log;
    log.at(5'000'000).segment(0x100000, kMiB).pooled(0x100000, kMiB).free(0x100000).reusable();
    log.at(5'010'000).pooled(0x100000, kMiB);
    log.at(5'005'000).free(0x100000); // the one before it: this was written late
    log.at(4'900'000).segment_gone(0x100000);
    const PoolStats stats = last(log).stats;
    EXPECT_EQ(stats.allocation.all.current, 1u);
    EXPECT_EQ(stats.segment.all.current, 1u);
}

TEST(SegmentReplay, AnAllocationOutsideOfAnySegmentIsCountedAndNothingElse)
{
    LogBuilder log;
    log.pooled(0x100000, kMiB).segment(0x900000, kMiB).pooled(0x100000, kMiB).free(0x100000);
    at_each_moment(log, [](const SegmentReplay& replay) { EXPECT_TRUE(replay.seen()); });
    std::uint64_t outside = 0;
    at_each_moment(log, [&](const SegmentReplay& replay) { outside = replay.outside(); });
    EXPECT_EQ(outside, 2u);
    EXPECT_EQ(last(log).stats.allocation.all.allocated, 0u);
}

TEST(SegmentReplay, ALogWithoutAPoolSaysThatNothingIsKnown)
{
    LogBuilder log;
    log.context(1).alloc(0x1000, 4096).free(0x1000).out_of_memory({.requested = 5});
    at_each_moment(log, [](const SegmentReplay& replay) { EXPECT_FALSE(replay.seen()); });
}

} // namespace
} // namespace vramscope::report
