// tools/simgpu/driver/base/free_ranges.cpp — lowest fit over power-of-two classes.
#include "tools/simgpu/driver/base/free_ranges.hpp"

#include <bit>

namespace simgpu {
namespace {

constexpr int kTriesInOwnClass = 16;

unsigned class_of(std::size_t bytes)
{
    return static_cast<unsigned>(std::bit_width(bytes)) - 1;
}

std::uintptr_t aligned_up(std::uintptr_t value, std::size_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

} // namespace

std::optional<std::uintptr_t> FreeRanges::take(std::size_t bytes, std::size_t alignment)
{
    const unsigned own = class_of(bytes);
    ByStart::iterator best = ranges_.end();
    const auto consider = [&](std::uintptr_t start) {
        const auto range = ranges_.find(start);
        if (aligned_up(start, alignment) + bytes > start + range->second)
            return false;
        if (best == ranges_.end() || start < best->first)
            best = range;
        return true;
    };
    int tries = kTriesInOwnClass;
    for (const std::uintptr_t start : classes_[own])
        if (consider(start) || --tries == 0)
            break;
    for (std::uint64_t rest = filled_ & ~((std::uint64_t{2} << own) - 1); rest; rest &= rest - 1) {
        tries = kTriesInOwnClass;
        for (const std::uintptr_t start : classes_[static_cast<unsigned>(std::countr_zero(rest))])
            if (consider(start) || --tries == 0)
                break;
    }
    if (best == ranges_.end())
        return std::nullopt;
    const auto [start, size] = *best;
    const std::uintptr_t taken = aligned_up(start, alignment);
    erase(best);
    if (taken > start)
        insert(start, taken - start);
    if (taken + bytes < start + size)
        insert(taken + bytes, start + size - taken - bytes);
    return taken;
}

FreeRanges::Range FreeRanges::give(std::uintptr_t start, std::size_t bytes, std::uintptr_t floor,
                                   std::uintptr_t ceiling)
{
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.end() && next->first == start + bytes && next->first < ceiling) {
        bytes += next->second;
        next = erase(next);
    }
    if (next != ranges_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == start && start > floor) {
            start = before->first;
            bytes += before->second;
            erase(before);
        }
    }
    insert(start, bytes);
    return {start, bytes};
}

void FreeRanges::remove(Range range)
{
    erase(ranges_.find(range.start));
}

std::optional<FreeRanges::Range> FreeRanges::range_at(std::uintptr_t start) const
{
    const auto found = ranges_.find(start);
    return found == ranges_.end() ? std::nullopt : std::optional(Range{start, found->second});
}

void FreeRanges::insert(std::uintptr_t start, std::size_t bytes)
{
    ranges_.emplace(start, bytes);
    classes_[class_of(bytes)].insert(start);
    filled_ |= std::uint64_t{1} << class_of(bytes);
    free_bytes_ += bytes;
}

FreeRanges::ByStart::iterator FreeRanges::erase(ByStart::iterator range)
{
    const unsigned size_class = class_of(range->second);
    classes_[size_class].erase(range->first);
    if (classes_[size_class].empty())
        filled_ &= ~(std::uint64_t{1} << size_class);
    free_bytes_ -= range->second;
    return ranges_.erase(range);
}

} // namespace simgpu
