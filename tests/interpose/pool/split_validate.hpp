// tests/interpose/pool/split_validate.hpp — SplitPolicy::validate().
//
// Null if all is as it must be, else what is not. It looks at everything.
#pragma once

#include "interpose/pool/split_policy.hpp"

namespace vramscope::pool {

inline const char* SplitPolicy::validate_block(Index at, Index segment,
                                               Counted& counted) const noexcept
{
    const Block& block = table_[at];
    if (block.group != segment || block.kind != segments_[segment].kind)
        return "a block belongs to another segment";
    if (table_.find(block.address) != at)
        return "a block is not found by its address";
    if (block.state == State::foreign)
        return "a block has no state";
    const auto state = static_cast<unsigned>(block.state);
    ++counted.blocks;
    ++counted.by_state[state];
    counted.bytes_by_state[state] += block.bytes;
    if (block.state == State::live)
        counted.requested += block.requested;
    if (block.state == State::free && is_split(block))
        counted.inactive_split += block.bytes;
    if (block.state == State::held && block.pinned)
        ++counted.unlisted;
    return nullptr;
}

inline const char* SplitPolicy::validate_segment(Index index, Counted& counted) const noexcept
{
    const Segment& segment = segments_[index];
    Address end = segment.address;
    Index previous = 0, used = 0;
    for (Index at = segment.first; at; previous = at, at = table_[at].right) {
        const Block& block = table_[at];
        if (block.address != end || block.left != previous || block.bytes == 0)
            return "the blocks of a segment do not tile it";
        if (previous && block.state == State::free && table_[previous].state == State::free)
            return "two free neighbours are not joined";
        end += block.bytes;
        used += block.state == State::live || (block.state == State::held && !block.pinned);
        if (const char* wrong = validate_block(at, index, counted))
            return wrong;
    }
    if (end != segment.address + segment.bytes)
        return "the blocks of a segment do not tile it";
    if (used != segment.used)
        return "a segment has other blocks in use than it knows of";
    ++counted.segments;
    counted.reserved += segment.bytes;
    if (used == 0) {
        ++counted.idle;
        counted.idle_bytes += segment.bytes;
    }
    return nullptr;
}

inline const char* SplitPolicy::validate_lists(const Counted& counted) const noexcept
{
    const auto count = [&](State state) { return counted.by_state[static_cast<unsigned>(state)]; };
    std::uint64_t pending = 0, held = 0, free = 0, idle = 0;
    for (const Kind kind : {kSmall, kLarge}) {
        std::uint64_t mark = 0;
        for (Index at = pending_[kind].head(); at; at = table_[at].next, ++pending) {
            if (table_[at].state != State::pending || table_[at].kind != kind ||
                table_[at].mark < mark)
                return "a queue of pending blocks is not in the order of their stamps";
            mark = table_[at].mark;
        }
    }
    for (Index at = held_.head(); at; at = table_[at].next, ++held) {
        if (table_[at].state != State::held)
            return "a block that is not held is in the list of those";
    }
    for (const Kind kind : {kSmall, kLarge}) {
        bool good = true;
        const bool in_bins = bins_[kind].for_each(table_, [&](Index at) {
            good = good && table_[at].state == State::free && table_[at].kind == kind;
            ++free;
        });
        if (!good || !in_bins)
            return "a block is in a bin that is not its own";
        for (Index at = idle_[kind].head; at; at = segments_[at].newer, ++idle) {
            if (segments_[at].used != 0 || segments_[at].kind != kind)
                return "a segment in use is in the list of idle ones";
        }
    }
    if (pending != count(State::pending) || held + counted.unlisted != count(State::held) ||
        free != count(State::free))
        return "a block is in no list";
    return idle == counted.idle ? nullptr : "a segment is not in the list of idle ones";
}

inline const char* SplitPolicy::validate_books(const Counted& counted) const noexcept
{
    const auto bytes = [&](State state) {
        return counted.bytes_by_state[static_cast<unsigned>(state)];
    };
    const Books& books = table_.books;
    if (books.allocated_bytes.current() != bytes(State::live) ||
        books.requested_bytes.current() != counted.requested ||
        books.allocations.current() != counted.by_state[static_cast<unsigned>(State::live)])
        return "allocated is not the sum of the live blocks";
    if (books.active_bytes.current() !=
        bytes(State::live) + bytes(State::pending) + bytes(State::held))
        return "active is not the sum of the live and the pending blocks";
    if (books.reserved_bytes.current() != counted.reserved ||
        books.segments.current() != counted.segments)
        return "reserved is not the sum of the segments";
    if (books.inactive_split_bytes.current() != counted.inactive_split)
        return "inactive_split is not the sum of the free parts";
    if (pending_bytes_[kSmall] + pending_bytes_[kLarge] != bytes(State::pending) ||
        idle_bytes_ != counted.idle_bytes)
        return "pending or idle bytes are not the sum of their blocks";
    return nullptr;
}

inline const char* SplitPolicy::validate() const noexcept
{
    Counted counted;
    Address next = ~Address{0}; // where the next segment begins
    for (Index at = by_order_.at_or_before(next); at; at = by_order_.at_or_before(next - 1)) {
        if (segments_[at].address + segments_[at].bytes > next)
            return "two segments overlap";
        next = segments_[at].address;
        if (const char* wrong = validate_segment(at, counted))
            return wrong;
    }
    if (table_.by_address.size() != counted.blocks)
        return "a block is lost";
    if (const char* wrong = validate_lists(counted))
        return wrong;
    return validate_books(counted);
}

} // namespace vramscope::pool
