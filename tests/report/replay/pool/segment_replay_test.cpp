// tests/report/replay/pool/segment_replay_test.cpp — what the internal pool held at each moment.
#include "report/replay/pool/segment_replay.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "report/log/log_reader.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::TempFile;

constexpr std::uint64_t kMiB = 1 << 20;

// Calls `after` behind every record that has a time.
template <typename After>
void replay(const LogBuilder& log, After after)
{
    const TempFile bytes(log.build());
    const LogFile file = LogFile::open(bytes.path());
    LogReader reader(file);
    LogTables tables;
    SegmentReplay replay(tables);
    while (const Record* const record = reader.next()) {
        tables.define(*record);
        replay.apply(*record);
        if (record->timed)
            after(replay);
    }
}

DevicePool last(const LogBuilder& log, std::int32_t device = 0)
{
    DevicePool pool;
    replay(log, [&](const SegmentReplay& replay) {
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
    replay(log, [&](const SegmentReplay& replay) {
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
    log.at(5'005'000).free(0x100000); // of the one before: it was written late
    log.at(4'900'000).segment_gone(0x100000);
    const PoolStats stats = last(log).stats;
    EXPECT_EQ(stats.allocation.all.current, 1u);
    EXPECT_EQ(stats.segment.all.current, 1u);
}

TEST(SegmentReplay, AnAllocationOutsideOfAnySegmentIsCountedAndNothingElse)
{
    LogBuilder log;
    log.pooled(0x100000, kMiB).segment(0x900000, kMiB).pooled(0x100000, kMiB).free(0x100000);
    replay(log, [](const SegmentReplay& replay) { EXPECT_TRUE(replay.seen()); });
    std::uint64_t outside = 0;
    replay(log, [&](const SegmentReplay& replay) { outside = replay.outside(); });
    EXPECT_EQ(outside, 2u);
    EXPECT_EQ(last(log).stats.allocation.all.allocated, 0u);
}

TEST(SegmentReplay, ALogWithoutAPoolSaysThatNothingIsKnown)
{
    LogBuilder log;
    log.context(1).alloc(0x1000, 4096).free(0x1000).out_of_memory({.requested = 5});
    replay(log, [](const SegmentReplay& replay) { EXPECT_FALSE(replay.seen()); });
}

// The same again, in the plainest way: lists that are walked for every number.
class Recount {
public:
    struct Block {
        std::uint64_t address, bytes, requested, born_ticks, freed_ticks;
        bool pending;
        bool operator==(const Block&) const = default;
    };
    struct Piece {
        std::uint64_t address, bytes, born_ticks;
    };

    void segment(std::uint64_t address, std::uint64_t bytes, std::uint64_t ticks)
    {
        for (std::size_t at = segments.size(); at-- > 0;) {
            const Piece old = segments[at];
            if (address < old.address + old.bytes && old.address < address + bytes)
                gone(old.address, UINT64_MAX);
        }
        segments.push_back({address, bytes, ticks});
    }
    void gone(std::uint64_t address, std::uint64_t ticks)
    {
        const auto found = std::find_if(segments.begin(), segments.end(),
                                        [&](const Piece& one) { return one.address == address; });
        if (found == segments.end() || ticks < found->born_ticks)
            return;
        const Piece old = *found;
        segments.erase(found);
        std::erase_if(blocks, [&](const Block& block) {
            return block.address >= old.address && block.address < old.address + old.bytes;
        });
    }
    void pooled(std::uint64_t address, std::uint64_t bytes, std::uint64_t slack,
                std::uint64_t ticks)
    {
        for (const Piece& one : segments) {
            if (address < one.address || address >= one.address + one.bytes)
                continue;
            const std::uint64_t taken = std::min(bytes + slack, one.address + one.bytes - address);
            std::erase_if(blocks, [&](const Block& old) {
                return old.address < address + taken && address < old.address + old.bytes;
            });
            blocks.push_back({address, taken, std::min(bytes, taken), ticks, 0, false});
        }
        if (allocated() > peak) {
            peak = allocated();
            at_peak = blocks;
            segments_at_peak = segments.size();
        }
    }
    void free(std::uint64_t address, std::uint64_t ticks)
    {
        for (Block& block : blocks) {
            if (block.address == address && !block.pending && ticks >= block.born_ticks) {
                block.pending = true;
                block.freed_ticks = ticks;
            }
        }
        reusable(moment);
    }
    void reusable(std::uint64_t until)
    {
        moment = std::max(moment, until);
        std::erase_if(blocks, [&](const Block& block) {
            return block.pending && block.freed_ticks <= moment;
        });
    }

    std::uint64_t reserved() const
    {
        std::uint64_t sum = 0;
        for (const Piece& one : segments)
            sum += one.bytes;
        return sum;
    }
    std::uint64_t sum(bool pending) const
    {
        std::uint64_t sum = 0;
        for (const Block& block : blocks)
            sum += block.pending == pending ? block.bytes : 0;
        return sum;
    }
    std::uint64_t allocated() const { return sum(false); }
    // Free pieces of segments that hold a block: their number and bytes.
    std::pair<std::uint64_t, std::uint64_t> split() const
    {
        std::uint64_t pieces = 0, bytes = 0;
        for (const Piece& one : segments) {
            std::map<std::uint64_t, std::uint64_t> used;
            for (const Block& block : blocks)
                if (block.address >= one.address && block.address < one.address + one.bytes)
                    used[block.address] = block.address + block.bytes;
            std::uint64_t from = one.address;
            used[one.address + one.bytes] = 0;
            if (used.size() == 1)
                continue;
            for (const auto& [address, end] : used) {
                pieces += address > from;
                bytes += address - from;
                from = end;
            }
        }
        return {pieces, bytes};
    }

    std::vector<Piece> segments;
    std::vector<Block> blocks;
    std::uint64_t moment = 0; // what was freed by then is free
    std::uint64_t peak = 0;
    std::vector<Block> at_peak;
    std::size_t segments_at_peak = 0;
};

std::vector<Recount::Block> blocks_in(const PoolSnapshot& snapshot)
{
    std::vector<Recount::Block> blocks;
    for (const SegmentPieces& segment : snapshot.segments) {
        std::uint64_t end = segment.address;
        for (const BlockPiece& piece : segment.blocks) {
            EXPECT_EQ(piece.address, end) << "a hole";
            end = piece.address + piece.bytes;
            if (piece.state != BlockState::inactive)
                blocks.push_back({piece.address, piece.bytes, piece.requested, 0, 0,
                                  piece.state == BlockState::active_pending_free});
        }
        EXPECT_EQ(end, segment.address + segment.bytes);
    }
    return blocks;
}

std::vector<Recount::Block> sorted(std::vector<Recount::Block> blocks)
{
    for (Recount::Block& block : blocks)
        block.born_ticks = block.freed_ticks = 0;
    std::sort(blocks.begin(), blocks.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    return blocks;
}

// Random events, sensible or not, and what they come to by the plain count after each.
class RandomPool {
public:
    explicit RandomPool(unsigned seed) : random_(seed)
    {
        log.info("pool.mode", seed % 2 ? "split" : "cache").context(1);
    }

    void step()
    {
        const std::uint64_t base = 0x100000 + number(12) * 0x8000;
        const std::uint64_t inside = base + number(64) * 512;
        const std::uint64_t ticks = log.now();
        switch (number(10)) {
        case 0:
            log.segment(base, 0x8000);
            model.segment(base, 0x8000, ticks);
            break;
        case 1: {
            if (number(4) > 0)
                return step();
            const std::uint64_t bytes = 0x4000 * (1 + number(4));
            log.segment(base + 0x4000, bytes);
            model.segment(base + 0x4000, bytes, ticks);
            break;
        }
        case 2:
            if (number(3) > 0)
                return step();
            log.segment_gone(base);
            model.gone(base, ticks);
            break;
        case 3: {
            const std::uint64_t age = number(6) * 700;
            log.reusable(age, number(2) == 0);
            model.reusable(ticks - age);
            break;
        }
        case 4:
            if (number(2) == 0) // the next events are written late
                log.at(ticks + 2000 - number(5000));
            return step();
        case 5:
        case 6: {
            std::uint64_t address = inside;
            if (!model.blocks.empty() && number(4) > 0)
                address = model.blocks[number(model.blocks.size())].address;
            log.free(address);
            model.free(address, ticks);
            break;
        }
        default: {
            const std::uint64_t bytes = 1 + number(number(4) == 0 ? 0x9000 : 2000);
            const std::uint64_t slack = (512 - bytes % 512) % 512;
            log.pooled(inside, bytes, slack);
            model.pooled(inside, bytes, slack, ticks);
        }
        }
        counts.push_back(model);
    }

    LogBuilder log;
    Recount model;
    std::vector<Recount> counts;

private:
    std::uint64_t number(std::uint64_t below) { return random_() % below; }
    std::mt19937_64 random_;
};

TEST(SegmentReplay, AgreesWithAPlainCountAtEveryMoment)
{
    for (unsigned seed = 1; seed <= 40; ++seed) {
        RandomPool pool(seed);
        for (int step = 0; step < 400; ++step)
            pool.step();
        std::size_t at = 0;
        replay(pool.log, [&](const SegmentReplay& replay) {
            const Recount& wanted = pool.counts.at(at++);
            const DevicePool* const device = replay.device(0);
            if (!device) {
                EXPECT_TRUE(wanted.segments.empty());
                return;
            }
            const PoolStats& stats = device->stats;
            SCOPED_TRACE(testing::Message() << "seed " << seed << ", event " << at);
            ASSERT_EQ(stats.reserved_bytes.all.current, wanted.reserved());
            ASSERT_EQ(stats.allocated_bytes.all.current, wanted.sum(false));
            ASSERT_EQ(stats.active_bytes.all.current, wanted.sum(false) + wanted.sum(true));
            ASSERT_EQ(stats.inactive_split.all.current, wanted.split().first);
            ASSERT_EQ(stats.inactive_split_bytes.all.current, wanted.split().second);
            ASSERT_EQ(stats.segment.all.current, wanted.segments.size());
            ASSERT_EQ(stats.active.all.current, wanted.blocks.size());
            ASSERT_EQ(stats.allocated_bytes.all.peak, wanted.peak);
            for (const NamedPoolStat& named : kPoolStats) {
                const PoolStat& stat = stats.*named.stat;
                ASSERT_EQ(stat.all.current, stat.all.allocated - stat.all.freed) << named.key;
                ASSERT_EQ(stat.all.current, stat.large_pool.current + stat.small_pool.current);
            }
            if (at % 20 != 0)
                return;
            ASSERT_EQ(blocks_in(replay.now(*device)), sorted(wanted.blocks));
            const PoolSnapshot peak = replay.at_peak(*device);
            ASSERT_EQ(blocks_in(peak), sorted(wanted.at_peak));
            ASSERT_EQ(peak.segments.size(), wanted.segments_at_peak);
        });
        EXPECT_EQ(at, pool.counts.size());
    }
}

TEST(PoolTimeline, KeepsPeaksInABoundedNumberOfPoints)
{
    PoolTimeline timeline;
    for (std::uint64_t at = 0; at < 1'000'000; ++at)
        timeline.add(5000 + at * 37, at == 543'210 ? 999 : at % 7, at % 7, at == 77 ? 500 : 10);
    const auto& points = timeline.points();
    EXPECT_LE(points.size(), PoolTimeline::kMostPoints);
    EXPECT_GE(points.size(), PoolTimeline::kMostPoints / 2);
    EXPECT_EQ(points.front().ticks, 5000u);
    std::uint64_t allocated = 0, reserved = 0;
    for (const PoolPoint& point : points) {
        allocated = std::max(allocated, point.peak_allocated);
        reserved = std::max(reserved, point.peak_reserved);
    }
    EXPECT_EQ(allocated, 999u);
    EXPECT_EQ(reserved, 500u);
    timeline.add(UINT64_MAX, 1, 1, 1);
    timeline.add(0, 2, 2, 2);
    EXPECT_LE(timeline.points().size(), PoolTimeline::kMostPoints);
    EXPECT_EQ(timeline.points().back().allocated, 2u);
}

} // namespace
} // namespace vramscope::report
