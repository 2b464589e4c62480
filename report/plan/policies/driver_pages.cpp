// report/plan/policies/driver_pages.cpp — what cudaMalloc makes of a size: a guess.
#include "report/plan/policies/driver_pages.hpp"

#include <algorithm>
#include <bit>

namespace vramscope::report::plan {

bool DriverPages::allocate(std::uint64_t bytes, std::uint64_t& address)
{
    if (!is_small(bytes))
        return device_.allocate(rounded(bytes), address);
    return allocate_small(static_cast<unsigned>(rounded(std::max(bytes, kStep)) / kStep), address);
}

bool DriverPages::allocate_small(unsigned steps, std::uint64_t& address)
{
    std::size_t number = page_for(steps);
    if (number == pages_.size() || !pages_[number].address)
        number = add_page();
    else
        device_.call_inside();
    if (number == pages_.size())
        return false;
    Page& page = pages_[number];
    const unsigned first = page.runs.take(steps);
    note_largest(number);
    address = kSmallBase + number * kPage + first * kStep;
    return true;
}

void DriverPages::release(std::uint64_t address, std::uint64_t bytes)
{
    if (!is_small(bytes)) {
        device_.release(address, rounded(bytes));
        return;
    }
    const std::size_t number = (address - kSmallBase) / kPage;
    Page& page = pages_[number];
    page.runs.give_back(static_cast<unsigned>((address - kSmallBase) % kPage / kStep),
                        static_cast<unsigned>(rounded(std::max(bytes, kStep)) / kStep));
    if (page.runs.longest() == FreeRuns::kSteps) {
        device_.release(page.address, kPage);
        page.address = 0;
    } else {
        device_.call_inside();
    }
    note_largest(number);
}

std::size_t DriverPages::page_for(unsigned steps) const noexcept
{
    if (leaves_ == 0 || longest_[1] < steps)
        return pages_.size();
    std::size_t at = 1;
    while (at < leaves_)
        at = longest_[2 * at] >= steps ? 2 * at : 2 * at + 1;
    return at - leaves_;
}

// The number of a new page; pages_.size(): the device has no more.
std::size_t DriverPages::add_page()
{
    std::uint64_t address = 0;
    if (!device_.allocate(kPage, address))
        return pages_.size();
    const auto vacant = std::find_if(pages_.begin(), pages_.end(),
                                     [](const Page& page) { return page.address == 0; });
    const auto number = static_cast<std::size_t>(vacant - pages_.begin());
    if (vacant == pages_.end())
        pages_.emplace_back();
    pages_[number].address = address;
    if (pages_.size() > leaves_) {
        leaves_ = std::bit_ceil(pages_.size());
        longest_.assign(2 * leaves_, 0);
        for (std::size_t each = 0; each < pages_.size(); ++each)
            note_largest(each);
    }
    return number;
}

void DriverPages::note_largest(std::size_t number) noexcept
{
    std::size_t at = leaves_ + number;
    longest_[at] = pages_[number].address ? pages_[number].runs.longest() : 0;
    while (at /= 2)
        longest_[at] = std::max(longest_[2 * at], longest_[2 * at + 1]);
}

std::uint64_t DriverPages::largest_free() const noexcept
{
    return leaves_ ? longest_[1] * kStep : 0;
}

} // namespace vramscope::report::plan
