// report/replay/lookup/page_lists.hpp — numbered things, by the page of addresses that they are in.
//
// For what is seldom looked for by a range of addresses: see ListsByKey.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "report/replay/lookup/lists_by_key.hpp"

namespace vramscope::report {

class PageLists {
public:
    // The number is in no list.
    void add(std::size_t number, std::uint64_t address) { lists_.add(number, page_of(address)); }
    // `address`: the one that it was added with.
    void remove(std::size_t number, std::uint64_t address)
    {
        lists_.remove(number, page_of(address));
    }

    // Calls `visit` with each number in the pages of these addresses, in no order.
    template <typename Visit>
    void for_each_near(std::uint64_t begin, std::uint64_t bytes, Visit visit)
    {
        if (bytes == 0)
            return;
        const std::uint64_t first = page_of(begin);
        const std::uint64_t last = page_of(begin + std::min(bytes - 1, UINT64_MAX - begin));
        if (last - first >= lists_.size()) { // more pages than there are lists
            lists_.for_each_where([&](std::uint64_t page) { return page >= first && page <= last; },
                                  visit);
            return;
        }
        for (std::uint64_t page = first; page <= last; ++page)
            lists_.for_each_of(page, visit);
    }

private:
    static constexpr unsigned kPageBits = 21;

    static std::uint64_t page_of(std::uint64_t address) noexcept { return address >> kPageBits; }

    ListsByKey lists_;
};

} // namespace vramscope::report
