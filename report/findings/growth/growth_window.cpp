// report/findings/growth/growth_window.cpp — floors become spans of steps; spans become bins.
#include "report/findings/growth/growth_window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/findings/growth/trend.hpp"

namespace vramscope::report {
namespace {

constexpr double kMostBins = 16;
static_assert(kMostBins <= kMostRanked);

} // namespace

std::vector<double> GrowthWindow::values() const
{
    std::vector<double> all;
    all.reserve(spans.size());
    for (const WindowSpan& span : spans)
        all.push_back(by_bytes ? span.bytes : span.blocks);
    return all;
}

GrowthWindow window_of(const PlaceSeries& place, const GrowthContext& context)
{
    GrowthWindow window;
    const StepCounter* const steps = context.steps;
    const std::uint64_t cut = steps ? steps->last_ticks() : place.last_ticks;
    std::vector<WindowSpan> all;
    std::uint64_t before = 0;
    for (const Floor& floor : place.floors) {
        // Of a span that goes beyond, only a level one says what was there at the cut.
        if (before >= cut || (floor.ticks > cut && !(floor.level && steps)))
            break;
        const auto count = static_cast<double>(all.size());
        all.push_back({.from = steps ? steps->at(before) : count,
                       .to = steps ? steps->at(floor.ticks) : count + 1,
                       .from_ticks = before,
                       .to_ticks = floor.ticks,
                       .events = floor.events,
                       .bytes = static_cast<double>(floor.bytes),
                       .blocks = static_cast<double>(floor.blocks)});
        window.by_bytes = window.by_bytes || floor.bytes > 0;
        window.all_events += floor.events;
        before = floor.ticks;
    }
    window.end = static_cast<double>(steps ? steps->count() : all.size());
    window.begin = std::max(1.0, std::floor(window.end / 5));
    for (const WindowSpan& span : all) {
        if (span.to <= window.begin)
            continue;
        window.spans.push_back(span);
        window.events += span.events;
    }
    return window;
}

std::vector<double> calls_before(const GrowthWindow& window, std::size_t first)
{
    std::vector<double> calls{0};
    for (std::size_t at = first; at + 1 < window.spans.size(); ++at) {
        const auto events = static_cast<double>(window.spans[at].events);
        const double more = window.spans[at + 1].blocks - window.spans[at].blocks;
        calls.push_back(calls.back() + (events + std::clamp(more, -events, events)) / 2);
    }
    return calls;
}

double fall_behind(const PlaceSeries& place, const GrowthWindow& window,
                   const GrowthContext& context)
{
    if (window.spans.empty())
        return 0;
    const std::vector<double> values = window.values();
    const double level = *std::max_element(values.begin(), values.end());
    double least = level;
    std::uint64_t before = 0;
    for (const Floor& floor : place.floors) {
        const bool ends_in_work = floor.ticks <= context.end_ticks || floor.level;
        if (before >= window.spans.back().to_ticks && before < context.end_ticks && ends_in_work)
            least = std::min<double>(least, window.by_bytes ? static_cast<double>(floor.bytes)
                                                            : floor.blocks);
        before = floor.ticks;
    }
    return level - least;
}

std::vector<double> bins_of(const GrowthWindow& window, std::span<const double> values)
{
    const double count = std::clamp(std::floor(window.length()), 0.0, kMostBins);
    std::vector<double> bins(static_cast<std::size_t>(count),
                             std::numeric_limits<double>::infinity());
    if (bins.empty())
        return bins;
    const double width = window.length() / count;
    for (std::size_t at = 0; at < values.size(); ++at) {
        const WindowSpan& span = window.spans[at];
        const double from = std::max((span.from - window.begin) / width, 0.0);
        const double to = std::max((span.to - window.begin) / width, 0.0);
        const auto first = std::min(static_cast<std::size_t>(from), bins.size() - 1);
        // What ends where a bin ends is no part of the next.
        const auto behind = std::max(static_cast<std::size_t>(std::ceil(to)), first + 1);
        for (std::size_t bin = first; bin < std::min(behind, bins.size()); ++bin)
            bins[bin] = std::min(bins[bin], values[at]);
    }
    while (!bins.empty() && std::isinf(bins.back()))
        bins.pop_back();
    return bins;
}

Rises rises_of(std::span<const double> values)
{
    Rises rises;
    const std::vector<double> level = lasting(values);
    for (std::size_t at = 1; at < level.size(); ++at) {
        if (level[at] <= level[at - 1])
            continue;
        rises.first = rises.count++ == 0 ? at : rises.first;
        rises.last = at;
    }
    rises.growth = level.empty() ? 0 : level.back() - level.front();
    return rises;
}

double share(double part, double whole) noexcept
{
    return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 1;
}

double time_place(std::uint64_t ticks, const GrowthContext& context)
{
    const std::uint64_t end = std::max(context.end_ticks, context.begin_ticks);
    ticks = std::clamp(ticks, context.begin_ticks, end);
    return share(static_cast<double>(ticks - context.begin_ticks),
                 static_cast<double>(end - context.begin_ticks));
}

double allocation_place(std::uint64_t ticks, const GrowthContext& context)
{
    return share(context.allocations.at(ticks), static_cast<double>(context.allocations.count()));
}

std::uint64_t ns_after(std::uint64_t ticks, const GrowthContext& context)
{
    const std::uint64_t end = context.clock.ns(context.end_ticks);
    return end - std::min(end, context.clock.ns(ticks));
}

} // namespace vramscope::report
