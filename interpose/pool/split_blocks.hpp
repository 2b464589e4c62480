// interpose/pool/split_blocks.hpp — SplitPolicy's longer members.
//
// A block is cut, waits, and is joined again; a segment comes, is in use or idle, and goes.
#pragma once

#include "interpose/pool/split_policy.hpp"

namespace vramscope::pool {

// Joins some of what has passed, and takes the best fit.
[[gnu::noinline]] inline Index SplitPolicy::take_free(std::uint64_t rounded,
                                                      std::uint64_t requested) noexcept
{
    const Kind kind = kind_of(rounded);
    pass_some(kind, kind == kSmall ? kPassedPerSmall : kPassedPerLarge);
    Index index = fit(rounded);
    while (!index && pass_some(kind, kPassedInNeed))
        index = fit(rounded);
    if (!index)
        return 0;
    return hand_out(index, rounded, requested);
}

// Hands out the part of a free block that is asked for, or all of it where the tables have no room.
[[gnu::always_inline]] inline Index SplitPolicy::hand_out(Index index, std::uint64_t rounded,
                                                          std::uint64_t requested) noexcept
{
    const bool cuts = worth_splitting(table_[index], rounded) && table_.by_address.make_room();
    if (const Index front = cuts ? table_.blocks.add() : 0) {
        cut(index, front, rounded);
        index = front;
    } else {
        from_bins(index);
    }
    Block& block = table_[index];
    table_.make_live(block, requested);
    used(block);
    return index;
}

// The front of a free block becomes one of its own. What is left keeps its record, and mostly its
// bin: a new segment is cut a thousand times.
[[gnu::always_inline]] inline void SplitPolicy::cut(Index index, Index front,
                                                    std::uint64_t rounded) noexcept
{
    Block& rest = table_[index];
    const bool was_split = is_split(rest);
    const bool moves = !Bins::are_alike(rest.bytes, rest.bytes - rounded);
    if (moves)
        bins_[rest.kind].remove(table_, index);
    table_[front] = {.address = rest.address,
                     .bytes = rounded,
                     .left = rest.left,
                     .right = index,
                     .group = rest.group,
                     .kind = rest.kind};
    (rest.left ? table_[rest.left].right : segments_[rest.group].first) = front;
    table_.by_address.replace(rest.address, index, front);
    rest.address += rounded;
    rest.bytes -= rounded;
    rest.left = front;
    table_.by_address.insert(rest.address, index);
    if (moves)
        bins_[rest.kind].insert(table_, index);
    if (was_split) {
        table_.books.inactive_split_bytes.subtract(rest.kind, rounded);
    } else {
        table_.books.inactive_split.add(rest.kind, 1);
        table_.books.inactive_split_bytes.add(rest.kind, rest.bytes);
    }
}

// The block was live or held.
[[gnu::always_inline]] inline void SplitPolicy::make_pending(Index index, Block& block,
                                                             std::uint64_t stamp) noexcept
{
    const Kind kind = block.kind;
    const std::uint64_t bytes = block.bytes;
    block.state = State::pending;
    block.mark = stamp;
    pending_[kind].append(table_, index);
    pending_bytes_[kind] += bytes;
    Index& last = last_freed(kind, bytes);
    block.turn = last;
    last = index;
    unused(block);
}

// A block that has passed and need not be joined and cut again, as programs ask for the sizes that
// they freed: the last freed of its class of sizes, or the first of all. Whatever a chain leads to
// is looked at before it is believed, as blocks are joined without telling it. 0: none.
[[gnu::always_inline]] inline Index SplitPolicy::passed_of_size(Kind kind,
                                                                std::uint64_t rounded) noexcept
{
    const std::uint64_t safe = epochs_.safe();
    const auto fits = [&](Index index) {
        const Block& block = table_[index];
        return block.state == State::pending && block.bytes == rounded && block.kind == kind &&
               block.mark <= safe;
    };
    Index& last = last_freed(kind, rounded);
    if (const Index index = last) {
        if (fits(index)) {
            last = static_cast<Index>(table_[index].turn);
            return index;
        }
        if (table_[index].state != State::pending)
            last = 0;
    }
    const Index first = pending_[kind].head();
    return first && fits(first) ? first : 0;
}

// False: nothing that is pending has passed.
inline bool SplitPolicy::pass_some(Kind kind, int most) noexcept
{
    const std::uint64_t safe = epochs_.safe();
    Index index = pending_[kind].head();
    if (!index || table_[index].mark > safe)
        return false;
    for (; index && most > 0 && table_[index].mark <= safe; --most) {
        pass_one(index);
        index = pending_[kind].head();
    }
    return true;
}

inline void SplitPolicy::pass_one(Index index) noexcept
{
    const Block& passed = table_[index];
    unlink_pending(index, passed);
    table_.books.passed(passed.kind, 1, passed.bytes);
    if (passed.right && table_[passed.right].state == State::free)
        absorb(index, passed.right);
    if (passed.left && table_[passed.left].state == State::free)
        index = absorb(passed.left, index);
    table_[index].state = State::free;
    to_bins(index);
}

// The block grows by its right neighbour; whichever of the two was free is in no bin afterwards.
inline Index SplitPolicy::absorb(Index index, Index neighbour) noexcept
{
    for (const Index each : {index, neighbour}) {
        if (table_[each].state == State::free)
            from_bins(each);
    }
    Block& block = table_[index];
    const Block& gone = table_[neighbour];
    block.bytes += gone.bytes;
    block.right = gone.right;
    if (gone.right)
        table_[gone.right].left = index;
    remove_block(neighbour);
    return index;
}

inline void SplitPolicy::remove_block(Index index) noexcept
{
    table_.by_address.erase(table_[index].address, index);
    table_[index].state = State::foreign; // last_freed_ may still lead to it
    table_.blocks.remove(index);
}

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
    table_[index] = {
        .address = address, .bytes = bytes, .group = segment, .state = State::free, .kind = kind};
    table_.by_address.insert(address, index);
    table_.books.taken(kind, bytes);
    to_bins(index);
    return hand_out(index, rounded, requested);
}

[[gnu::always_inline]] inline void SplitPolicy::used(Block& block) noexcept
{
    Segment& segment = segments_[block.group];
    if (segment.used++ == 0 && (segment.older || idle_[segment.kind].head == block.group))
        [[unlikely]]
        not_idle(block.group);
}

[[gnu::always_inline]] inline void SplitPolicy::unused(const Block& block) noexcept
{
    Segment& segment = segments_[block.group];
    if (--segment.used == 0) [[unlikely]]
        now_idle(block.group);
}

[[gnu::noinline]] inline void SplitPolicy::now_idle(Index index) noexcept
{
    Segment& segment = segments_[index];
    segment.idle_since = table_.turn;
    idle_bytes_ += segment.bytes;
    Idle& idle = idle_[segment.kind];
    segment.newer = 0;
    segment.older = idle.tail;
    (idle.tail ? segments_[idle.tail].newer : idle.head) = index;
    idle.tail = index;
}

[[gnu::noinline]] inline void SplitPolicy::not_idle(Index index) noexcept
{
    Segment& segment = segments_[index];
    Idle& idle = idle_[segment.kind];
    (segment.older ? segments_[segment.older].newer : idle.head) = segment.newer;
    (segment.newer ? segments_[segment.newer].older : idle.tail) = segment.older;
    segment.older = segment.newer = 0;
    idle_bytes_ -= segment.bytes;
}

// Asked of an idle segment. As a rule it is one free block by now.
inline bool SplitPolicy::has_passed(const Segment& segment) const noexcept
{
    for (Index at = segment.first; at; at = table_[at].right) {
        if (table_[at].state != State::free && !epochs_.passed(table_[at].mark))
            return false;
    }
    return true;
}

// Whether all of it may be handed out. What is held because it was pinned itself never may.
inline bool SplitPolicy::is_reusable(const Segment& segment) const noexcept
{
    for (Index at = segment.first; at; at = table_[at].right) {
        if (state_of(table_[at]) != State::free)
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

// The segment goes with all its blocks, whatever their states.
inline void SplitPolicy::remove_segment(Index index) noexcept
{
    const Segment segment = segments_[index];
    for (Index at = segment.first; at;) {
        const Block block = table_[at];
        if (block.state == State::live)
            table_.books.freed(block);
        if (block.state == State::held && !block.pinned)
            held_.remove(table_, at);
        if (block.state == State::pending)
            unlink_pending(at, block);
        if (block.state == State::free)
            from_bins(at);
        else
            table_.books.passed(block.kind, 1, block.bytes);
        remove_block(at);
        at = block.right;
    }
    if (segment.used == 0)
        not_idle(index);
    table_.books.left(segment.kind, segment.bytes);
    by_order_.erase(index);
    segments_.remove(index);
}

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
