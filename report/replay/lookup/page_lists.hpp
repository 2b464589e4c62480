// report/replay/lookup/page_lists.hpp — numbered things, by the page of addresses that they are in.
//
// For what is seldom looked for by a range of addresses, and comes and goes with each event: no
// order is kept. Numbers are those of a Slab; memory goes with them, and with pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "report/replay/lookup/flat_map.hpp"

namespace vramscope::report {

class PageLists {
public:
    // The number is in no list.
    void add(std::size_t number, std::uint64_t address)
    {
        if (number >= links_.size())
            links_.resize(number + 1);
        const auto [first, added] = first_of_page_.find_or_insert(page_of(address));
        const std::size_t next = added ? kNone : first->value;
        links_[number] = {kNone, next};
        if (next != kNone)
            links_[next].before = number;
        first->value = number;
    }
    // `address`: the one that it was added with.
    void remove(std::size_t number, std::uint64_t address)
    {
        const auto [before, next] = links_[number];
        if (next != kNone)
            links_[next].before = before;
        if (before != kNone) {
            links_[before].next = next;
            return;
        }
        auto* const first = first_of_page_.find(page_of(address));
        if (next == kNone)
            first_of_page_.erase(first);
        else
            first->value = next;
    }

    // Calls `visit` with each number in the pages of these addresses, in no order.
    template <typename Visit>
    void for_each_near(std::uint64_t begin, std::uint64_t bytes, Visit visit)
    {
        const auto visit_list = [&](std::size_t number) {
            for (; number != kNone; number = links_[number].next)
                visit(number);
        };
        if (bytes == 0)
            return;
        const std::uint64_t first = page_of(begin);
        const std::uint64_t last = page_of(begin + std::min(bytes - 1, UINT64_MAX - begin));
        if (last - first >= first_of_page_.size()) { // more pages than there are lists
            first_of_page_.for_each([&](const auto& entry) {
                if (entry.key >= first && entry.key <= last)
                    visit_list(entry.value);
            });
            return;
        }
        for (std::uint64_t page = first; page <= last; ++page) {
            if (const auto* const found = first_of_page_.find(page))
                visit_list(found->value);
        }
    }

private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    static constexpr unsigned kPageBits = 21;
    struct Links {
        std::size_t before = kNone;
        std::size_t next = kNone;
    };

    static std::uint64_t page_of(std::uint64_t address) noexcept { return address >> kPageBits; }

    FlatMap<std::size_t> first_of_page_;
    std::vector<Links> links_; // by number
};

} // namespace vramscope::report
