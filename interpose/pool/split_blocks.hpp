// interpose/pool/split_blocks.hpp — SplitPolicy: a block is cut, waits, and is joined again.
#pragma once

#include "interpose/pool/split_policy.hpp"

namespace vramscope::pool {

// A free block, in no bin any more. Where the tables have no room it is handed out uncut.
inline void SplitPolicy::hand_out(Index index, std::uint64_t rounded,
                                  std::uint64_t requested) noexcept
{
    Block& block = table_[index];
    if (worth_splitting(block, rounded) && table_.by_address.make_room()) {
        if (const Index rest = table_.blocks.add()) {
            table_[rest] = {.address = block.address + rounded,
                            .bytes = block.bytes - rounded,
                            .turn = table_.turn,
                            .left = index,
                            .right = block.right,
                            .group = block.group,
                            .state = State::free,
                            .kind = block.kind};
            if (block.right)
                table_[block.right].left = rest;
            block.right = rest;
            block.bytes = rounded;
            table_.by_address.insert(table_[rest].address, rest);
            to_bins(rest);
        }
    }
    table_.make_live(block, requested);
    used(block);
}

// From live or held.
inline void SplitPolicy::make_pending(Index index, std::uint64_t stamp) noexcept
{
    Block& block = table_[index];
    block.state = State::pending;
    block.mark = stamp;
    pending_[block.kind].append(table_, index);
    pending_bytes_[block.kind] += block.bytes;
    unused(block);
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
    pending_[passed.kind].remove(table_, index);
    pending_bytes_[passed.kind] -= passed.bytes;
    table_.books.passed(passed.kind, 1, passed.bytes);
    if (passed.right && table_[passed.right].state == State::free)
        absorb(index, passed.right);
    if (passed.left && table_[passed.left].state == State::free)
        index = absorb(passed.left, index);
    table_[index].state = State::free;
    table_[index].turn = table_.turn;
    to_bins(index);
}

// The block grows by its right neighbour; whichever of the two was free is in no bin afterwards.
inline Index SplitPolicy::absorb(Index index, Index neighbour) noexcept
{
    for (const Index each : {index, neighbour}) {
        if (table_[each].state == State::free) {
            bins_[table_[each].kind].remove(table_, each);
            not_in_bins(table_[each]);
        }
    }
    Block& block = table_[index];
    const Block& gone = table_[neighbour];
    block.bytes += gone.bytes;
    block.right = gone.right;
    if (gone.right)
        table_[gone.right].left = index;
    table_.by_address.erase(gone.address, neighbour);
    table_.blocks.remove(neighbour);
    return index;
}

} // namespace vramscope::pool
