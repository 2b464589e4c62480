// report/plan/policies/driver_pages.cpp — what cudaMalloc makes of a size: a guess.
#include "report/plan/policies/driver_pages.hpp"

#include <algorithm>
#include <bit>

namespace vramscope::report::plan {
namespace {

// The first bit from `at` on that is so; the end of the words: there is none.
template <typename Words>
unsigned next_bit(const Words& words, unsigned at, bool one)
{
    const unsigned end = static_cast<unsigned>(words.size()) * 64;
    while (at < end) {
        const std::uint64_t word = one ? words[at / 64] : ~words[at / 64];
        const std::uint64_t rest = word >> at % 64;
        if (rest)
            return at + static_cast<unsigned>(std::countr_zero(rest));
        at = (at / 64 + 1) * 64;
    }
    return end;
}

// Where the run of zeros begins that ends before `at`.
template <typename Words>
unsigned begin_of_zeros(const Words& words, unsigned at)
{
    while (at > 0) {
        const unsigned last = at - 1;
        const std::uint64_t ones = words[last / 64] << (63 - last % 64);
        const unsigned zeros = static_cast<unsigned>(std::countl_zero(ones));
        if (zeros <= last % 64)
            return at - zeros;
        at = last / 64 * 64;
    }
    return 0;
}

// Calls visit(first, steps) for each run of zeros, in order, until it returns true.
template <typename Words, typename Visit>
void each_run(const Words& words, Visit visit)
{
    const unsigned end = static_cast<unsigned>(words.size()) * 64;
    for (unsigned first = next_bit(words, 0, false); first < end;) {
        const unsigned behind = next_bit(words, first, true);
        if (visit(first, behind - first))
            return;
        first = next_bit(words, behind, false);
    }
}

} // namespace

// Looked for from the begin: the first that is long enough.
unsigned DriverPages::Page::take(unsigned steps) noexcept
{
    unsigned found = 0, run = 0;
    each_run(used, [&](unsigned first, unsigned length) {
        found = first;
        run = length;
        return length >= steps;
    });
    mark(found, steps, true);
    if (run < largest)
        return found;
    largest = 0;
    each_run(used, [&](unsigned, unsigned length) {
        largest = std::max(largest, length);
        return largest == run; // another one is as long
    });
    return found;
}

void DriverPages::Page::give_back(unsigned first, unsigned steps) noexcept
{
    mark(first, steps, false);
    largest = std::max(largest, next_bit(used, first, true) - begin_of_zeros(used, first));
}

void DriverPages::Page::mark(unsigned first, unsigned steps, bool use) noexcept
{
    for (unsigned at = first; at < first + steps;) {
        const unsigned count = std::min(64 - at % 64, first + steps - at);
        const std::uint64_t bits = (~std::uint64_t{0} >> (64 - count)) << at % 64;
        used[at / 64] = use ? used[at / 64] | bits : used[at / 64] & ~bits;
        at += count;
    }
}

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
    const unsigned first = page.take(steps);
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
    page.give_back(static_cast<unsigned>((address - kSmallBase) % kPage / kStep),
                   static_cast<unsigned>(rounded(std::max(bytes, kStep)) / kStep));
    if (page.largest == kSteps) {
        device_.release(page.address, kPage);
        page.address = 0;
        page.largest = 0; // it is not there
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
    pages_[number].largest = kSteps;
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
    longest_[at] = pages_[number].largest;
    while (at /= 2)
        longest_[at] = std::max(longest_[2 * at], longest_[2 * at + 1]);
}

std::uint64_t DriverPages::largest_free() const noexcept
{
    return leaves_ ? longest_[1] * kStep : 0;
}

} // namespace vramscope::report::plan
