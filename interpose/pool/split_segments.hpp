// interpose/pool/split_segments.hpp — SplitPolicy: a segment comes, is in use or idle, and goes.
#pragma once

#include "interpose/pool/split_policy.hpp"

namespace vramscope::pool {

inline Index SplitPolicy::add_segment(Address address, std::uint64_t bytes, std::uint64_t rounded,
                                      std::uint64_t requested) noexcept
{
    drop_overlaps(address, bytes);
    const Index index = address && table_.by_address.make_room() ? table_.blocks.add() : 0;
    const Index segment = index ? segments_.add() : 0;
    if (!segment) {
        if (index)
            table_.blocks.remove(index);
        return 0;
    }
    const Kind kind = kind_of(rounded);
    segments_[segment] = {.address = address, .bytes = bytes, .first = index, .kind = kind};
    by_order_.insert(segment);
    table_[index] = {.address = address, .bytes = bytes, .group = segment, .kind = kind};
    table_.by_address.insert(address, index);
    table_.books.taken(kind, bytes);
    hand_out(index, rounded, requested);
    return index;
}

inline void SplitPolicy::used(Block& block) noexcept
{
    Segment& segment = segments_[block.group];
    if (segment.used++ == 0 && (segment.older || idle_[segment.kind].head == block.group)) {
        not_idle(block.group);
        idle_bytes_ -= segment.bytes;
    }
}

inline void SplitPolicy::unused(const Block& block) noexcept
{
    Segment& segment = segments_[block.group];
    if (--segment.used != 0)
        return;
    segment.idle_since = table_.turn;
    idle_bytes_ += segment.bytes;
    Idle& idle = idle_[segment.kind];
    segment.newer = 0;
    segment.older = idle.tail;
    (idle.tail ? segments_[idle.tail].newer : idle.head) = block.group;
    idle.tail = block.group;
}

inline void SplitPolicy::not_idle(Index index) noexcept
{
    Segment& segment = segments_[index];
    Idle& idle = idle_[segment.kind];
    (segment.older ? segments_[segment.older].newer : idle.head) = segment.newer;
    (segment.newer ? segments_[segment.newer].older : idle.tail) = segment.older;
    segment.older = segment.newer = 0;
}

// Of an idle one. As a rule it is one free block by now.
inline bool SplitPolicy::has_passed(const Segment& segment) const noexcept
{
    for (Index at = segment.first; at; at = table_[at].right) {
        if (table_[at].state != State::free && !epochs_.passed(table_[at].mark))
            return false;
    }
    return true;
}

inline bool SplitPolicy::take_out_segment(Index index, Leaving& leaving) noexcept
{
    leaving = {segments_[index].address, segments_[index].bytes};
    remove_segment(index);
    return true;
}

// With all its blocks, whatever their states.
inline void SplitPolicy::remove_segment(Index index) noexcept
{
    const Segment segment = segments_[index];
    for (Index at = segment.first; at;) {
        const Block block = table_[at];
        if (block.state == State::live)
            table_.books.freed(block);
        if (block.state == State::held && !block.pinned)
            held_.remove(table_, at);
        if (block.state == State::pending) {
            pending_[block.kind].remove(table_, at);
            pending_bytes_[block.kind] -= block.bytes;
        }
        if (block.state == State::free) {
            bins_[block.kind].remove(table_, at);
            not_in_bins(block);
        } else {
            table_.books.passed(block.kind, 1, block.bytes);
        }
        table_.by_address.erase(block.address, at);
        table_.blocks.remove(at);
        at = block.right;
    }
    if (segment.used == 0) {
        not_idle(index);
        idle_bytes_ -= segment.bytes;
    }
    table_.books.left(segment.kind, segment.bytes);
    by_order_.erase(index);
    segments_.remove(index);
}

// Upstream gave this out again: what we knew there was freed behind our back.
inline void SplitPolicy::drop_overlaps(Address address, std::uint64_t bytes) noexcept
{
    for (;;) {
        const Index index = by_order_.at_or_before(address + bytes - 1);
        if (!index || segments_[index].address + segments_[index].bytes <= address)
            return;
        remove_segment(index);
    }
}

} // namespace vramscope::pool
