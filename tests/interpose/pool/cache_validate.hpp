// tests/interpose/pool/cache_validate.hpp — CachePolicy::validate().
//
// Null if all is as it must be, else what is not. It looks at everything.
#pragma once

#include "interpose/pool/cache_policy.hpp"

namespace vramscope::pool {

inline const char* CachePolicy::validate_block(Index at, Counted& counted) const noexcept
{
    const Block& block = table_[at];
    const Group* const group = block.group ? used_group(block.group) : nullptr;
    if (table_.find(block.address) != at)
        return "a block is not found by its address";
    if (!group || group->bytes != block.bytes)
        return "a block is in the group of another size";
    ++counted.blocks;
    counted.reserved += block.bytes;
    if (block.state == State::live) {
        ++counted.live;
        counted.live_bytes += block.bytes;
        counted.requested += block.requested;
    } else if (block.state != State::pending) {
        return "a block has no state";
    } else if (pending_.counts(block.mark)) {
        counted.pending_bytes += block.bytes;
    }
    return nullptr;
}

inline const char* CachePolicy::validate_group(Index at, Counted& counted) const noexcept
{
    Index previous = 0;
    std::uint64_t mark = 0;
    bool ready = groups_[at].ready != 0;
    for (Index index = groups_[at].head; index; index = table_[index].next) {
        const Block& block = table_[index];
        if (block.state != State::pending || block.group != at || block.previous != previous)
            return "a queue of freed blocks is torn";
        if (block.mark < mark)
            return "a queue of freed blocks is not in the order of their stamps";
        if (ready && !epochs_.passed(block.mark))
            return "a block is ready that has not passed";
        ready = ready && index != groups_[at].ready;
        mark = block.mark;
        previous = index;
        ++counted.queued;
    }
    if (ready)
        return "a block is ready that was not freed";
    return groups_[at].tail == previous ? nullptr : "a queue of freed blocks has another end";
}

inline const char* CachePolicy::validate_books(const Counted& counted) const noexcept
{
    const Books& books = table_.books;
    if (books.allocations.current() != counted.live ||
        books.allocated_bytes.current() != counted.live_bytes ||
        books.requested_bytes.current() != counted.requested)
        return "allocated is not the sum of the live blocks";
    if (books.segments.current() != counted.blocks ||
        books.reserved_bytes.current() != counted.reserved)
        return "reserved is not the sum of the segments";
    if (books.active_bytes.current() != counted.live_bytes + counted.pending_bytes)
        return "active is not the sum of the live and the pending blocks";
    return nullptr;
}

inline const char* CachePolicy::validate() const noexcept
{
    Counted counted;
    Address next = ~Address{0}; // where the next block begins
    for (Index at = by_order_.at_or_before(next); at; at = by_order_.at_or_before(next - 1)) {
        if (table_[at].address + table_[at].bytes > next)
            return "two blocks overlap";
        next = table_[at].address;
        if (const char* wrong = validate_block(at, counted))
            return wrong;
    }
    std::uint64_t groups = 0, grouped = 0;
    for (Index at = kFirst; at < groups_.end(); ++at) {
        if (!used_group(at))
            continue;
        ++groups;
        grouped += groups_[at].blocks;
        if (const char* wrong = validate_group(at, counted))
            return wrong;
    }
    if (groups != by_bytes_.size() || grouped != counted.blocks)
        return "groups and blocks differ";
    if (table_.by_address.size() != counted.blocks ||
        counted.queued + counted.live != counted.blocks)
        return "a block is lost";
    return validate_books(counted);
}

} // namespace vramscope::pool
