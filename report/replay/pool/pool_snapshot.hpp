// report/replay/pool/pool_snapshot.hpp — segments and blocks at one moment, by address.
//
// The moment of a peak is known only when it has passed. So what goes after it is kept until the
// next peak, and the snapshot is what is still there together with that.
#pragma once

#include <cstdint>
#include <vector>

#include "report/model/pool.hpp"
#include "report/replay/pool/segments.hpp"

namespace vramscope::report {

struct PoolSnapshot {
    std::uint64_t ticks = 0;
    std::vector<SegmentPieces> segments;
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

private:
    std::uint64_t serial_ = 0;
    std::uint64_t ticks_ = 0;
    std::vector<PoolBlock> blocks_;
    std::vector<SegmentPieces> segments_; // without their blocks
};

// Puts blocks into the segments that they lie in, and gaps between them.
PoolSnapshot snapshot_of(std::vector<SegmentPieces> segments, std::vector<BlockPiece> blocks);

// The same of what is there now.
PoolSnapshot snapshot_of(const std::vector<const Segment*>& segments, std::uint64_t ticks);

} // namespace vramscope::report
