// report/replay/pool/pool_snapshot.cpp — blocks into their segments, gaps between them.
#include "report/replay/pool/pool_snapshot.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {
namespace {

// A block is at least as old as the snapshot's moment, and so is its free if it was pending then.
void add_block(std::vector<BlockPiece>& pieces, const PoolBlock& block, std::uint64_t serial)
{
    if (block.born > serial)
        return;
    const bool pending = block.pending() && block.freed <= serial;
    pieces.push_back({block.address, block.bytes, block.requested,
                      pending ? BlockState::active_pending_free : BlockState::active_allocated});
}

// Both sorted by address; the blocks lie in the segments.
void fill(std::vector<SegmentPieces>& segments, const std::vector<BlockPiece>& blocks)
{
    auto block = blocks.begin();
    for (SegmentPieces& segment : segments) {
        std::uint64_t free_from = segment.address;
        const std::uint64_t end = segment.address + segment.bytes;
        const auto add_gap = [&](std::uint64_t to) {
            if (to > free_from)
                segment.blocks.push_back({free_from, to - free_from, 0, BlockState::inactive});
        };
        while (block != blocks.end() && block->address < end) {
            add_gap(block->address);
            segment.blocks.push_back(*block);
            free_from = block->address + block->bytes;
            ++block;
        }
        add_gap(end);
    }
}

SegmentPieces without_blocks(const Segment& segment)
{
    return {segment.address, segment.bytes, segment.context, segment.small, {}};
}

PoolSnapshot make_snapshot(const std::vector<const Segment*>& segments,
                           std::vector<SegmentPieces> gone, std::vector<BlockPiece> blocks,
                           std::uint64_t serial, std::uint64_t ticks)
{
    for (const Segment* const segment : segments) {
        if (segment->born > serial)
            continue;
        gone.push_back(without_blocks(*segment));
        segment->blocks.for_each([&](const PoolBlock& block) { add_block(blocks, block, serial); });
    }
    PoolSnapshot snapshot = snapshot_of(std::move(gone), std::move(blocks));
    snapshot.ticks = ticks;
    return snapshot;
}

} // namespace

PoolSnapshot snapshot_of(std::vector<SegmentPieces> segments, std::vector<BlockPiece> blocks)
{
    const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
    std::sort(segments.begin(), segments.end(), by_address);
    std::sort(blocks.begin(), blocks.end(), by_address);
    PoolSnapshot snapshot;
    snapshot.segments = std::move(segments);
    fill(snapshot.segments, blocks);
    return snapshot;
}

void PoolHistory::peak_at(std::uint64_t serial, std::uint64_t ticks)
{
    serial_ = serial;
    ticks_ = ticks;
    blocks_.clear();
    segments_.clear();
}

void PoolHistory::block_leaves(const PoolBlock& block)
{
    if (block.born <= serial_)
        blocks_.push_back(block);
}

void PoolHistory::segment_leaves(const Segment& segment)
{
    if (segment.born <= serial_)
        segments_.push_back(without_blocks(segment));
}

PoolSnapshot PoolHistory::peak(const std::vector<const Segment*>& segments) const
{
    std::vector<BlockPiece> blocks;
    for (const PoolBlock& block : blocks_)
        add_block(blocks, block, serial_);
    return make_snapshot(segments, segments_, std::move(blocks), serial_, ticks_);
}

PoolSnapshot snapshot_of(const std::vector<const Segment*>& segments, std::uint64_t ticks)
{
    return make_snapshot(segments, {}, {}, UINT64_MAX, ticks);
}

} // namespace vramscope::report
