// report/symbols/symbolizer_ranges.cpp — RangeIndex: one sweep over the sorted ranges.
#include "report/symbols/symbolizer_ranges.hpp"

#include <algorithm>
#include <queue>

namespace vramscope::report {

void RangeIndex::add(std::uint64_t low, std::uint64_t high, std::uint32_t value)
{
    if (low < high && value != kNothing)
        ranges_.push_back({low, high, value, static_cast<std::uint32_t>(ranges_.size())});
}

void RangeIndex::append(std::uint64_t low, std::uint32_t value)
{
    const auto last = segments_.empty() ? kNothing : segments_.back().value;
    if (last != value)
        segments_.push_back({low, value});
}

void RangeIndex::build()
{
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.low < b.low; });
    const auto added_earlier = [](const Range& a, const Range& b) { return a.order < b.order; };
    std::priority_queue<Range, std::vector<Range>, decltype(added_earlier)> open(added_earlier);

    std::size_t next = 0;
    std::uint64_t at = 0;
    while (next < ranges_.size() || !open.empty()) {
        if (open.empty())
            at = ranges_[next].low;
        for (; next < ranges_.size() && ranges_[next].low <= at; ++next)
            open.push(ranges_[next]);
        while (!open.empty() && open.top().high <= at)
            open.pop();
        if (open.empty()) {
            append(at, kNothing);
            continue;
        }
        append(at, open.top().value);
        at = next < ranges_.size() ? std::min(open.top().high, ranges_[next].low) : open.top().high;
    }
    ranges_ = {};
    segments_.shrink_to_fit();
}

std::optional<std::uint32_t> RangeIndex::find(std::uint64_t address) const
{
    const auto after = std::upper_bound(
        segments_.begin(), segments_.end(), address,
        [](std::uint64_t wanted, const Segment& segment) { return wanted < segment.low; });
    if (after == segments_.begin() || std::prev(after)->value == kNothing)
        return std::nullopt;
    return std::prev(after)->value;
}

} // namespace vramscope::report
