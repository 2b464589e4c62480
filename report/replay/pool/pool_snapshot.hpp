// report/replay/pool/pool_snapshot.hpp — segments and blocks at one moment, by address.
//
// The moment of a peak is known only when it has passed. So what goes after it is kept until the
// next peak, and the snapshot is what is still there together with that.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "report/model/memory/pool.hpp"
#include "report/replay/pool/segments.hpp"

namespace vramscope::report {

// Of a block's allocation.
struct PieceCall {
    std::uint64_t stack = 0;
    std::uint64_t ticks = 0;
    std::uint64_t api = 0;
};

struct PoolSnapshot {
    std::uint64_t ticks = 0;
    std::vector<SegmentPieces> segments;
    std::vector<PieceCall> calls; // what `owner` of a block is an index into, here
    std::uint64_t segments_left_out = 0;

    bool rebuild() const; // whether each block has its call
    // Segments behind the first ones go, so that at most kMostPieces of blocks and gaps stay.
    void cut();
};

// Blocks on their way into a snapshot.
class SnapshotBlocks {
public:
    void add(BlockPiece piece, const PieceCall& call);
    // As it was at that serial, if it was there.
    void add(const PoolBlock& block, std::uint64_t serial);

    // Puts the blocks into the segments that they lie in, and gaps between them.
    PoolSnapshot take(std::vector<SegmentPieces> segments);

private:
    std::vector<BlockPiece> blocks_;
    std::vector<PieceCall> calls_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> numbers_; // of API and stack
};

// Keeps what has gone since the most was allocated.
class PoolHistory {
public:
    // Nothing else is at an event's serial: blocks of it were born by then, or later.
    void peak_at(std::uint64_t serial, std::uint64_t ticks);
    void block_leaves(const PoolBlock& block);
    void segment_leaves(const Segment& segment); // its blocks have left

    std::uint64_t serial() const noexcept { return serial_; }
    std::uint64_t ticks() const noexcept { return ticks_; }

    // `segments`: those of one device that are there now; any serial of the peak or later.
    PoolSnapshot peak(const std::vector<const Segment*>& segments) const;

    auto state() noexcept
    {
        return std::tie(serial_, ticks_, blocks_, segments_);
    } // see report/checkpoint

private:
    std::uint64_t serial_ = 0;
    std::uint64_t ticks_ = 0;
    std::vector<PoolBlock> blocks_;
    std::vector<SegmentPieces> segments_; // without their blocks
};

// Of what is there now.
PoolSnapshot snapshot_of(const std::vector<const Segment*>& segments, std::uint64_t ticks);

} // namespace vramscope::report
