// report/replay/pool/pool_snapshot.cpp — blocks into their segments, gaps between them.
#include "report/replay/pool/pool_snapshot.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {
namespace {

// Both sorted by address; the blocks lie in the segments.
void fill(std::vector<SegmentPieces>& segments, const std::vector<BlockPiece>& blocks)
{
    auto block = blocks.begin();
    for (SegmentPieces& segment : segments) {
        std::uint64_t free_from = segment.address;
        const std::uint64_t end = segment.address + segment.bytes;
        const auto add_gap = [&](std::uint64_t to) {
            if (to > free_from)
                segment.blocks.push_back({.address = free_from, .bytes = to - free_from});
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

// `gone` and `blocks`: those that are not there any more.
PoolSnapshot make_snapshot(const std::vector<const Segment*>& segments,
                           std::vector<SegmentPieces> gone, SnapshotBlocks blocks,
                           std::uint64_t serial, std::uint64_t ticks)
{
    for (const Segment* const segment : segments) {
        if (segment->born > serial)
            continue;
        gone.push_back(without_blocks(*segment));
        segment->blocks.for_each([&](const PoolBlock& block) { blocks.add(block, serial); });
    }
    PoolSnapshot snapshot = blocks.take(std::move(gone));
    snapshot.ticks = ticks;
    return snapshot;
}

} // namespace

void SnapshotBlocks::add(BlockPiece piece, const PieceCall& call)
{
    const auto [number, added] =
        numbers_.try_emplace({call.api, call.stack}, static_cast<std::uint32_t>(calls_.size()));
    if (added)
        calls_.push_back(call);
    piece.owner = number->second;
    blocks_.push_back(piece);
}

// A block is at least as old as the snapshot's moment, and so is its free if it was pending then.
void SnapshotBlocks::add(const PoolBlock& block, std::uint64_t serial)
{
    if (block.born > serial)
        return;
    const bool pending = block.pending() && block.freed <= serial;
    add({.address = block.address,
         .bytes = block.bytes,
         .requested = block.requested,
         .state = pending ? BlockState::active_pending_free : BlockState::active_allocated},
        {block.stack, block.born_ticks, block.api});
}

PoolSnapshot SnapshotBlocks::take(std::vector<SegmentPieces> segments)
{
    const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
    std::sort(segments.begin(), segments.end(), by_address);
    std::sort(blocks_.begin(), blocks_.end(), by_address);
    PoolSnapshot snapshot;
    snapshot.segments = std::move(segments);
    snapshot.calls = std::move(calls_);
    fill(snapshot.segments, blocks_);
    return snapshot;
}

void PoolSnapshot::cut()
{
    std::size_t pieces = 0;
    std::size_t kept = 0;
    for (; kept < segments.size(); ++kept) {
        pieces += segments[kept].blocks.size();
        if (pieces > kMostPieces)
            break;
    }
    segments_left_out += segments.size() - kept;
    segments.resize(kept);
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
    SnapshotBlocks blocks;
    for (const PoolBlock& block : blocks_)
        blocks.add(block, serial_);
    return make_snapshot(segments, segments_, std::move(blocks), serial_, ticks_);
}

PoolSnapshot snapshot_of(const std::vector<const Segment*>& segments, std::uint64_t ticks)
{
    return make_snapshot(segments, {}, {}, UINT64_MAX, ticks);
}

bool PoolSnapshot::rebuild() const
{
    for (const SegmentPieces& segment : segments)
        for (const BlockPiece& block : segment.blocks)
            if (block.owner != kNoOwner && block.owner >= calls.size())
                return false;
    return true;
}

} // namespace vramscope::report
