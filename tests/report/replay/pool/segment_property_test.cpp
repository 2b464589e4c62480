// tests/report/replay/pool/segment_property_test.cpp — random events, beside a plain count.
#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "report/replay/pool/segment_replay.hpp"
#include "tests/support/replay.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;

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

TEST(SegmentProperty, AgreesWithAPlainCountAtEveryMoment)
{
    for (unsigned seed = 1; seed <= 40; ++seed) {
        RandomPool pool(seed);
        for (int step = 0; step < 400; ++step)
            pool.step();
        std::size_t at = 0;
        test::replay(pool.log, [&](const Record& record, const test::Replayed& replayed) {
            if (!record.timed)
                return;
            const SegmentReplay& replay = replayed.segments;
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

} // namespace
} // namespace vramscope::report
