// interpose/pool/oldest_lists.hpp — which of many lists has the oldest head.
//
// Programs may have thousands of sizes, so not all of their lists are looked at for each block that
// leaves: some of the oldest are gathered. The head of a list only ever becomes younger. So as long
// as one that was gathered is no younger than the youngest of them was then, the oldest of all is
// among them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "interpose/pool/slab.hpp"

namespace vramscope::pool {

class OldestLists {
public:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

    // Of the lists [first, end) that with the least turn_of_head(list), or one of several; 0: all are
    // empty.
    template <class TurnOfHead>
    Index find(Index first, Index end, TurnOfHead turn_of_head) noexcept
    {
        Index found = find_gathered(turn_of_head);
        if (!found) {
            gather(first, end, turn_of_head);
            found = find_gathered(turn_of_head);
        }
        return found;
    }

private:
    struct List {
        std::uint64_t turn = 0;
        Index number = 0;

        bool operator<(const List& other) const noexcept
        {
            return turn != other.turn ? turn < other.turn : number < other.number;
        }
    };

    template <class TurnOfHead>
    Index find_gathered(TurnOfHead turn_of_head) const noexcept
    {
        List oldest = youngest_;
        Index found = 0;
        for (std::size_t at = 0; at < count_; ++at) {
            const List list{turn_of_head(gathered_[at].number), gathered_[at].number};
            if (list.turn != kEmpty && !(oldest < list)) {
                oldest = list;
                found = list.number;
            }
        }
        return found;
    }

    template <class TurnOfHead>
    [[gnu::noinline]] void gather(Index first, Index end, TurnOfHead turn_of_head) noexcept
    {
        const auto begin = gathered_.begin();
        count_ = 0;
        for (Index at = first; at < end; ++at) {
            const List list{turn_of_head(at), at};
            if (list.turn == kEmpty || (count_ == gathered_.size() && !(list < *begin)))
                continue;
            if (count_ == gathered_.size())
                std::pop_heap(begin, begin + static_cast<std::ptrdiff_t>(count_--));
            gathered_[count_++] = list;
            std::push_heap(begin, begin + static_cast<std::ptrdiff_t>(count_));
        }
        youngest_ = *begin;
    }

    std::array<List, 64> gathered_; // the youngest first, as they were then
    std::size_t count_ = 0;
    List youngest_;
};

} // namespace vramscope::pool
