// report/findings/growth/growth_rate.cpp — slopes of steps, bytes of calls, averages of the rest.
#include "report/findings/growth/growth_rate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "report/findings/growth/trend.hpp"

namespace vramscope::report {
namespace {

constexpr double kFaster = 1.5;         // speed in the last third of its rises, beside the first
constexpr double kFarAbove = 1.5;       // a mean is not above the median without a few large ones
constexpr double kSurelyFaster = 0.999; // steps that now and then have a rise look faster by chance

bool speeds_up(const GrowthWindow& window)
{
    std::vector<double> levels;
    for (const WindowSpan& span : window.spans)
        levels.push_back(span.bytes);
    return speeds_up(window, levels);
}

} // namespace

GrowthRate rate_of(const PlaceSeries& place, const GrowthWindow& window, const Rises& rises,
                   const GrowthContext& context)
{
    std::vector<double> steps; // those that were whole: how long each one took is no matter
    std::vector<double> seconds;
    std::vector<double> bytes;
    std::vector<double> blocks;
    for (std::size_t at = rises.first - 1; at < window.spans.size(); ++at) {
        const WindowSpan& span = window.spans[at];
        // What grows is least where the span begins. Before its first block a place has no span.
        const std::uint64_t from = std::max(span.from_ticks, place.first_ticks);
        steps.push_back(context.steps ? std::floor(context.steps->at(from)) : 0);
        seconds.push_back(static_cast<double>(context.clock.ns(from)) / 1e9);
        bytes.push_back(span.bytes);
        blocks.push_back(span.blocks);
    }
    const std::vector<double> calls_at = calls_before(window, rises.first - 1);
    const double calls = std::max(1.0, calls_at.back());
    GrowthRate rate;
    rate.bytes_per_second = slope_of(seconds, bytes).median;
    const bool never_frees = place.frees_by_last == 0; // then it is exact
    const double mean =
        static_cast<double>(place.allocated_bytes) / static_cast<double>(place.allocations);
    double of_calls = std::max(bytes.back() - bytes.front(), 0.0) / calls;
    if (place.same_size) // a call adds no more than its block
        of_calls = std::min(of_calls, mean);
    rate.bytes_per_call = never_frees ? mean : of_calls;
    const bool is_fitted = !context.steps && !never_frees;
    Slope per_call; // looked at by these alone
    if (!place.same_size || is_fitted)
        per_call = slope_of(calls_at, bytes);
    if (!place.same_size) { // one large block is no growth of each call; larger and larger ones are
        if (per_call.median > 0 && rate.bytes_per_call > kFarAbove * per_call.median &&
            !speeds_up(window))
            rate.bytes_per_call = per_call.median;
    }
    const double blocks_per_call =
        never_frees ? 1 : std::clamp((blocks.back() - blocks.front()) / calls, 0.0, 1.0);
    const Slope per_step = slope_of(steps, bytes);
    rate.bytes_per_step = context.steps ? per_step.median : rate.bytes_per_call;
    rate.least_per_step = rate.most_per_step = rate.bytes_per_step;
    if (context.steps || is_fitted) {
        const Slope& slope = context.steps ? per_step : per_call;
        rate.least_per_step = std::clamp(slope.least, 0.0, rate.bytes_per_step);
        rate.most_per_step = std::max(slope.most, rate.bytes_per_step);
        if (!context.steps && place.same_size)
            rate.most_per_step = std::min(rate.most_per_step, std::max(mean, rate.bytes_per_step));
    }
    rate.blocks_per_step = context.steps ? slope_of(steps, blocks).median : blocks_per_call;
    rate.steps = static_cast<std::uint64_t>(context.steps ? window.length() : calls);
    rate.first_ns = context.clock.ns(place.first_ticks);
    rate.last_ns = context.clock.ns(window.spans[rises.last].from_ticks);
    return rate;
}

bool speeds_up(const GrowthWindow& window, std::span<const double> values)
{
    const std::vector<double> level = lasting(values);
    std::vector<double> speeds; // from rise to rise
    std::size_t before = 0;
    for (const std::size_t at : rising_spans(level)) {
        const double steps = window.spans[at].from - window.spans[before].from;
        speeds.push_back((level[at] - level[before]) / std::max(steps, 1.0));
        before = at;
    }
    const std::span<const double> ranked =
        std::span(speeds).last(std::min(speeds.size(), kMostRanked));
    const std::size_t third = ranked.size() / 3;
    const auto middle = [&](std::size_t begin) {
        std::vector<double> some(ranked.begin() + static_cast<std::ptrdiff_t>(begin),
                                 ranked.begin() + static_cast<std::ptrdiff_t>(begin + third));
        std::sort(some.begin(), some.end());
        return some[third / 2];
    };
    return third > 0 && rising_confidence(ranked) >= kSurelyFaster &&
           middle(ranked.size() - third) >= kFaster * middle(0);
}

void average_over(GrowthFinding& finding, const WindowSpan& first, const GrowthWindow& window,
                  const GrowthContext& context)
{
    GrowthRate& rate = finding.rate;
    rate.speeds_up = true;
    const auto bytes = static_cast<double>(finding.bytes);
    rate.bytes_per_second =
        bytes * 1e9 /
        static_cast<double>(std::max<std::uint64_t>(ns_after(first.from_ticks, context), 1));
    rate.bytes_per_step = bytes / std::max(window.end - first.from, 1.0);
    rate.least_per_step = rate.most_per_step = rate.bytes_per_step;
}

void average_out(GrowthFinding& finding, const WindowSpan& first, const GrowthWindow& window,
                 const GrowthContext& context)
{
    const auto at_most = [](double rate, std::uint64_t added, double length) {
        return length > 0 ? std::min(rate, static_cast<double>(added) / length) : rate;
    };
    const double steps = window.end - first.from;
    const double seconds = static_cast<double>(ns_after(first.from_ticks, context)) / 1e9;
    GrowthRate& rate = finding.rate;
    rate.bytes_per_second = at_most(rate.bytes_per_second, finding.bytes, seconds);
    if (!context.steps)
        return; // then it is an average already
    rate.bytes_per_step = at_most(rate.bytes_per_step, finding.bytes, steps);
    rate.least_per_step = std::min(rate.least_per_step, rate.bytes_per_step);
    rate.blocks_per_step = at_most(rate.blocks_per_step, finding.blocks, steps);
}

} // namespace vramscope::report
