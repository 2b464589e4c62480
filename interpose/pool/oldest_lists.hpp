// interpose/pool/oldest_lists.hpp — which of many lists has the oldest head.
//
// Programs may have thousands of sizes, so not all of their lists are looked at for each block that
// leaves: the lists with the oldest heads are gathered in a heap. The head of a list only ever
// becomes younger. So the oldest list that was gathered is the oldest of all if its head has not
// changed. A list whose head is younger by now than all that were gathered is dropped from the
// heap, since lists that were not gathered may be older.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "interpose/pool/slab.hpp"

namespace vramscope::pool {

class OldestLists {
public:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

    // Finds the list in [first, end) that has the least turn_of_head(list); any of them if several
    // have it. 0: all lists are empty.
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

    // All lists are empty from now on, and their turns may begin anew.
    void clear() noexcept { count_ = 0; }

private:
    struct List {
        std::uint64_t turn;
        Index number;

        bool operator<(const List& other) const noexcept
        {
            return turn != other.turn ? turn < other.turn : number < other.number;
        }
        bool operator>(const List& other) const noexcept { return other < *this; }
    };
    static constexpr std::size_t kMost = 1024; // lists that are gathered

    template <class TurnOfHead>
    Index find_gathered(TurnOfHead turn_of_head) noexcept
    {
        while (count_ > 0) {
            const List oldest = gathered_[0];
            const List now{turn_of_head(oldest.number), oldest.number};
            if (now.turn == oldest.turn)
                return now.number;
            std::pop_heap(begin(), end(), std::greater());
            if (now.turn == kEmpty || youngest_ < now) {
                --count_;
            } else {
                gathered_[count_ - 1] = now;
                std::push_heap(begin(), end(), std::greater());
            }
        }
        return 0;
    }

    template <class TurnOfHead>
    [[gnu::noinline]] void gather(Index first, Index end_of_lists, TurnOfHead turn_of_head) noexcept
    {
        count_ = 0;
        youngest_ = {kEmpty, 0};
        for (Index at = first; at < end_of_lists; ++at) {
            const List list{turn_of_head(at), at};
            if (!(list < youngest_))
                continue;
            if (count_ == gathered_.size())
                leave_out_youngest();
            gathered_[count_++] = list;
        }
        if (count_ > kMost)
            leave_out_youngest();
        else if (count_ > 0)
            youngest_ = *std::max_element(begin(), end());
        std::make_heap(begin(), end(), std::greater());
    }
    // Half of what there is room for: so each is looked at a few times, however many come.
    void leave_out_youngest() noexcept
    {
        std::nth_element(begin(), begin() + (kMost - 1), end());
        count_ = kMost;
        youngest_ = gathered_[kMost - 1];
    }

    List* begin() noexcept { return gathered_.data(); }
    List* end() noexcept { return gathered_.data() + count_; }

    // What is not used is never written: these are pages.
    std::array<List, 2 * kMost> gathered_; // a heap: the oldest first, as their heads were
    std::size_t count_ = 0;
    List youngest_; // the youngest that was gathered, as it was then
};

} // namespace vramscope::pool
