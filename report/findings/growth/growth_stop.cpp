// report/findings/growth/growth_stop.cpp — a tail that is longer than the gaps and chance explain.
#include <algorithm>

#include "report/findings/growth/growth_window.hpp"

namespace vramscope::report {
namespace {

constexpr double kGapsOfAStop = 3; // in units of the longest gap
constexpr std::size_t kFewestOfALevel = 4;

// Part of an axis behind the last of so many rises: long enough that chance would hardly leave it
// empty, had they gone on.
bool is_long_tail(double tail, std::size_t rises)
{
    double chance = 1;
    for (std::size_t at = 0; at < rises && chance > 1 - kSure; ++at)
        chance *= 1 - tail;
    return tail > kTail && chance <= 1 - kSure;
}

} // namespace

std::vector<std::size_t> rising_spans(std::span<const double> level)
{
    std::vector<std::size_t> spans;
    for (std::size_t at = 1; at < level.size(); ++at)
        if (level[at] > level[at - 1])
            spans.push_back(at);
    return spans;
}

bool are_over(std::span<const double> rises, double begin, double end)
{
    double longest = 0;
    double last = begin;
    for (const double at : rises) {
        longest = std::max(longest, at - last);
        last = std::max(last, at);
    }
    return end - last >= kGapsOfAStop * longest &&
           is_long_tail(share(end - last, end - begin), rises.size());
}

bool levelled_off(const GrowthWindow& window, std::span<const double> level,
                  std::span<const double> rises)
{
    const double half = (window.begin + window.end) / 2;
    double by_half = level.front();
    for (std::size_t at = 0; at < level.size() && window.spans[at].from < half; ++at)
        by_half = level[at];
    return rises.size() >= kFewestOfALevel &&
           by_half - level.front() >= 3 * (level.back() - by_half) &&
           is_long_tail(share(window.end - rises.back(), window.length()), rises.size());
}

} // namespace vramscope::report
