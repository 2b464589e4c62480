// report/findings/growth/growth_rule.cpp — the tests, one by one, and their thresholds.
//
// Thresholds were chosen so that of random walks, which rise and fall by chance, at most a few in a
// hundred pass, and of leaks under noise nearly all.
#include "report/findings/growth/growth_rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "report/findings/growth/growth_rate.hpp"
#include "report/findings/growth/growth_window.hpp"
#include "report/findings/growth/trend.hpp"

namespace vramscope::report {
namespace {

constexpr double kAboveNoise = 10;       // the growth, as a multiple of the deepest fall
constexpr double kGivenBack = 0.5;       // part of the growth that the work frees later
constexpr double kEven = 0.25;           // part of the growth that the median slope explains
constexpr double kFromStraight = 0.35;   // part of the growth that it may be off a straight line
constexpr double kStillAsFast = 0.6;     // speed in the last third, beside the average before
constexpr double kLongestTail = 1.0 / 3; // part of the work that may end without growth …
constexpr double kGapsInTail = 4;        // … or so many of the usual gaps between two rises
constexpr double kLife = 0.25;           // part of the work that it grew over …
constexpr double kLifeOfMany = 0.05;
constexpr std::uint64_t kManyRises = 16;         // … without steps, after so many rises
constexpr std::uint64_t kShortNs = 100'000'000;  // shorter pauses may be the machine's doing
constexpr std::uint64_t kLongNs = 1'000'000'000; // longer pauses are the program's doing
constexpr double kLaterAllocations = 16;
constexpr std::uint64_t kFewestReused = 4;
constexpr std::size_t kFewLevels = 12; // one step more or less is much

double tail_allowed(double gap, double least = kTail) noexcept
{
    return std::clamp(kGapsInTail * gap, least, kLongestTail);
}

double gaps_of(const Rises& rises) noexcept
{
    return static_cast<double>(std::max<std::uint64_t>(rises.count - 1, 1));
}

bool grows_to_the_last_step(const GrowthWindow& window, const Rises& rises)
{
    const double first = window.spans[rises.first].from;
    const double last = window.spans[rises.last].from;
    const double gap = (last - first) / gaps_of(rises) / window.length();
    return window.end - last <= tail_allowed(gap) * window.length() &&
           window.end - first >= kLife * window.length();
}

// Without steps: the growth may not have ended earlier, by time or by allocations.
bool grows_to_the_end(const PlaceSeries& place, const GrowthWindow& window, const Rises& rises,
                      const GrowthContext& context)
{
    const std::uint64_t from = window.spans[rises.first].from_ticks;
    // Where nothing was freed by then, each allocation was a rise.
    const std::uint64_t to =
        place.frees_by_last == 0 ? place.last_ticks : window.spans[rises.last].from_ticks;
    const double least_tail = place.prepares ? 0 : kTail; // the work may be short
    const auto ended = [&](double first, double last) {
        return 1 - last > tail_allowed((last - first) / gaps_of(rises) / 2, least_tail);
    };
    const double time_from = time_place(from, context);
    const double time_to = time_place(to, context);
    const double calls_from = allocation_place(from, context);
    const double calls_to = allocation_place(to, context);
    if (ended(calls_from, calls_to) ||
        (ended(time_from, time_to) && ns_after(to, context) > kShortNs))
        return false;
    const double life = std::max(time_to - time_from, calls_to - calls_from);
    return life >= (rises.count >= kManyRises ? kLifeOfMany : kLife);
}

// Of its own, up to the end of the window; what is freed behind it is the end of the program.
std::uint64_t frees_within(const PlaceSeries& place, const GrowthWindow& window)
{
    return window.all_events - std::min(window.all_events, place.allocations);
}

// Between its first rise and its last.
double own_calls(const GrowthWindow& window, const Rises& rises)
{
    return calls_before(window, rises.first)[rises.last - rises.first];
}

bool others_call(const GrowthWindow& window, const Rises& rises, const GrowthContext& context)
{
    const double calls = context.allocations.at(window.spans[rises.last].from_ticks) -
                         context.allocations.at(window.spans[rises.first].from_ticks);
    return calls - own_calls(window, rises) >= static_cast<double>(rises.count) / 2;
}

// Other things go on between the rises, or there are many blocks of one size. A few of different
// sizes may well be a loop over the parts of something that is made once; and many of one size too,
// where the program's own loop has steps.
bool is_of_a_loop(const PlaceSeries& place, const GrowthWindow& window, const Rises& rises,
                  const GrowthContext& context)
{
    return context.steps || frees_within(place, window) >= rises.count ||
           (place.one_size && rises.count >= kManyRises && !context.beside_steps) ||
           others_call(window, rises, context);
}

// What the growth is held against: the steps; without them, the calls of this place, the calls of
// all places and the time, as far as they say something. There is one more value than spans: the
// last one is the end.
std::vector<std::vector<double>> axes_of(const PlaceSeries& place, const GrowthWindow& window,
                                         const Rises& rises, const GrowthContext& context)
{
    const std::span<const WindowSpan> spans = std::span(window.spans).subspan(rises.first);
    std::vector<std::vector<double>> axes(1);
    double calls = 0; // spans of a series may have more of them or fewer
    for (const WindowSpan& span : spans) {
        axes[0].push_back(context.steps ? span.from : calls);
        calls += static_cast<double>(span.events);
    }
    axes[0].push_back(context.steps ? window.end : calls);
    if (context.steps)
        return axes;
    const std::uint64_t end = std::max(place.last_ticks, spans.back().from_ticks);
    const auto add = [&](auto where) {
        std::vector<double>& axis = axes.emplace_back();
        for (const WindowSpan& span : spans)
            axis.push_back(where(span.from_ticks));
        axis.push_back(where(end));
    };
    if (others_call(window, rises, context))
        add([&](std::uint64_t ticks) { return context.allocations.at(ticks); });
    const auto ns_at = [&](std::uint64_t ticks) {
        return static_cast<double>(context.clock.ns(ticks));
    };
    if (ns_at(end) - ns_at(spans.front().from_ticks) >= kLongNs)
        add(ns_at);
    return axes;
}

// Levels from before the first rise on, over an axis from the first rise on: near a straight line,
// and in the last third nearly as steep as before.
bool is_straight(std::span<const double> level, std::span<const double> axis)
{
    const double begin = axis.front();
    const double length = axis.back() - begin;
    const double growth = level.back() - level.front();
    double by_then = level.front(); // of few levels, the middle of the step that is there
    const bool few = level.size() <= kFewLevels;
    for (std::size_t at = 1; at < level.size(); ++at) {
        const double part = length > 0 ? (axis[at - 1] - begin) / length : 1;
        if (std::abs((level[at] - level.front()) / growth - part) > kFromStraight)
            return false;
        if (part <= 2.0 / 3)
            by_then = few ? (level[at - 1] + level[at]) / 2 : level[at];
    }
    return level.back() - by_then >= kStillAsFast * (by_then - level.front()) / 2;
}

// Whether the median slope explains the growth, rather than one jump among small rises.
bool is_even(const PlaceSeries& place, const GrowthWindow& window, std::span<const double> values,
             const Rises& rises, const GrowthContext& context)
{
    const std::size_t before = rises.first - 1;
    std::vector<double> x;
    for (std::size_t at = before; at < window.spans.size(); ++at)
        x.push_back(window.spans[at].to);
    const double slope = slope_of(x, values.subspan(before)).median;
    if (slope <= 0 || slope * (x.back() - x.front()) < kEven * rises.growth)
        return false;
    const std::vector<double> level = lasting(values.subspan(before));
    const auto axes = axes_of(place, window, rises, context);
    return std::all_of(axes.begin(), axes.end(),
                       [&](const std::vector<double>& axis) { return is_straight(level, axis); });
}

// Without steps a window ends with the last call of the place. What came behind it counts as well,
// by allocations and by time, as far as these say something.
bool ended_before_the_work(const GrowthWindow& window, const Rises& rises,
                           std::span<const std::size_t> rising, const GrowthContext& context)
{
    const auto over = [&](double (*where)(std::uint64_t, const GrowthContext&)) {
        std::vector<double> places;
        for (const std::size_t at : rising)
            places.push_back(where(window.spans[at].from_ticks, context));
        return are_over(places, where(window.spans.front().from_ticks, context), 1);
    };
    const std::uint64_t last = window.spans[rises.last].from_ticks;
    const double later =
        static_cast<double>(context.allocations.count()) - context.allocations.at(last);
    const bool by_calls = later >= kLaterAllocations || others_call(window, rises, context);
    const bool by_time = ns_after(last, context) >= kLongNs;
    return (by_calls || by_time) && (!by_calls || over(allocation_place)) &&
           (!by_time || over(time_place));
}

// Whether it grew, and then did not grow any more while the work went on.
bool has_stopped(const PlaceSeries& place, const GrowthWindow& window,
                 std::span<const double> values, const Rises& rises, const GrowthContext& context)
{
    if (rises.count < kRisesToTell || !is_of_a_loop(place, window, rises, context))
        return false;
    const std::vector<double> level = lasting(values);
    const std::vector<std::size_t> rising = rising_spans(level);
    std::vector<double> places;
    for (const std::size_t at : rising)
        places.push_back(window.spans[at].from);
    return levelled_off(window, level, places) || are_over(places, window.begin, window.end) ||
           (!context.steps && ended_before_the_work(window, rises, rising, context));
}

// It did not rise any more while blocks came and went; or hardly ever while all were replaced,
// twice on average; or it fell as far as it had risen.
bool is_replaced(const PlaceSeries& place, const GrowthWindow& window,
                 std::span<const double> values, const Rises& rises)
{
    if (values.empty())
        return false;
    std::uint64_t events_after = 0;
    for (std::size_t at = rises.last; at < window.spans.size(); ++at)
        events_after += window.spans[at].events;
    const double deepest = deepest_fall(values);
    const bool reused = events_after >= std::max<std::uint64_t>(kFewestReused, window.events / 10);
    const bool emptied = deepest > 0 && deepest >= rises.growth / 2;
    const std::uint64_t frees = frees_within(place, window);
    const bool replaced = rises.count <= 2 && rises.growth * 2 < lasting(values).back() &&
                          static_cast<double>(frees) >= 2 * window.spans.back().blocks;
    return (reused || replaced || emptied) && frees >= kFewestReused;
}

// By the program, between the end of the window and that of its work: it belonged to the steps.
bool is_given_back(const PlaceSeries& place, const GrowthWindow& window,
                   const GrowthFinding& finding, const GrowthContext& context)
{
    const double growth = static_cast<double>(window.by_bytes ? finding.bytes : finding.blocks);
    const double blocks = std::max(kGivenBack * static_cast<double>(finding.blocks), 1.0);
    return fall_behind(place, window, context) > kGivenBack * growth &&
           static_cast<double>(place.frees_later) >= blocks;
}

} // namespace

bool may_grow(const PlaceSeries& place, const GrowthContext& context)
{
    return rises_of(window_of(place, context).values()).count > 0;
}

GrowthFinding judge_growth(const PlaceSeries& place, const GrowthContext& context)
{
    GrowthFinding finding;
    const GrowthWindow window = window_of(place, context);
    const std::vector<double> values = window.values();
    const Rises rises = rises_of(values);
    finding.rises = rises.count;
    finding.bounded = is_replaced(place, window, values, rises) ||
                      has_stopped(place, window, values, rises, context);
    if (rises.count == 0)
        return finding;
    std::vector<double> blocks;
    for (const WindowSpan& span : window.spans)
        blocks.push_back(span.blocks);
    const std::vector<double> bins = bins_of(window, values);
    finding.bytes = window.by_bytes ? static_cast<std::uint64_t>(rises.growth) : 0;
    finding.blocks = static_cast<std::uint64_t>(rises_of(blocks).growth);
    finding.rate = rate_of(place, window, rises, context);
    finding.rate.confidence = std::min(rising_confidence(bins), confidence_of_rises(rises.count));
    finding.of_a_loop = is_of_a_loop(place, window, rises, context);
    // Without steps it may be a container that grows to the size of what is put into it.
    const bool faster = context.steps && speeds_up(window, values);
    finding.growing = finding.of_a_loop && finding.rate.confidence >= kSure &&
                      rises.growth >= kAboveNoise * deepest_fall(bins) &&
                      !is_given_back(place, window, finding, context) &&
                      (context.steps ? grows_to_the_last_step(window, rises)
                                     : grows_to_the_end(place, window, rises, context)) &&
                      (faster || is_even(place, window, values, rises, context));
    if (finding.growing && faster)
        average_over(finding, window.spans[rises.first], window, context);
    finding.bounded = finding.bounded && !finding.growing;
    if (!finding.growing)
        average_out(finding, window.spans[rises.first], window, context);
    return finding;
}

bool is_start_up(std::uint64_t ticks, bool one_block, const GrowthContext& context)
{
    if (context.steps) {
        const double warm_up = std::floor(static_cast<double>(context.steps->count()) / 5);
        return context.steps->at(ticks) <= (one_block ? 1 : std::max(1.0, warm_up));
    }
    const double early = one_block ? 0.25 : 0.5;
    const double later =
        static_cast<double>(context.allocations.count()) - context.allocations.at(ticks);
    return (allocation_place(ticks, context) <= early && later >= kLaterAllocations) ||
           (time_place(ticks, context) <= early && ns_after(ticks, context) >= kLongNs);
}

} // namespace vramscope::report
