// report/replay/lookup/lists_by_key.hpp — numbered things, in a list for each key that they have.
//
// For what is seldom looked for by its key, and comes and goes with each event: no order is kept.
// Numbers are those of a Slab; memory goes with them, and with keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "report/replay/lookup/flat_map.hpp"

namespace vramscope::report {

class ListsByKey {
public:
    // The number is in no list.
    void add(std::size_t number, std::uint64_t key)
    {
        if (number >= links_.size())
            links_.resize(number + 1);
        const auto [first, added] = firsts_.find_or_insert(key);
        const std::size_t next = added ? kNone : first->value;
        links_[number] = {kNone, next};
        if (next != kNone)
            links_[next].before = number;
        first->value = number;
    }
    // `key`: the one that it was added with.
    void remove(std::size_t number, std::uint64_t key)
    {
        const auto [before, next] = links_[number];
        if (next != kNone)
            links_[next].before = before;
        if (before != kNone) {
            links_[before].next = next;
            return;
        }
        auto* const first = firsts_.find(key);
        if (next == kNone)
            firsts_.erase(first);
        else
            first->value = next;
    }

    std::size_t size() const noexcept { return firsts_.size(); } // lists

    // Calls `visit` with each number of one key.
    template <typename Visit>
    void for_each_of(std::uint64_t key, Visit visit)
    {
        if (const auto* const first = firsts_.find(key))
            visit_list(first->value, visit);
    }
    // The same for all keys that `wanted` holds for.
    template <typename Wanted, typename Visit>
    void for_each_where(Wanted wanted, Visit visit)
    {
        firsts_.for_each([&](const auto& first) {
            if (wanted(first.key))
                visit_list(first.value, visit);
        });
    }

private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    struct Links {
        std::size_t before = kNone;
        std::size_t next = kNone;
    };

    template <typename Visit>
    void visit_list(std::size_t number, Visit& visit)
    {
        for (; number != kNone; number = links_[number].next)
            visit(number);
    }

    FlatMap<std::size_t> firsts_;
    std::vector<Links> links_; // by number
};

} // namespace vramscope::report
