// report/findings/growth/trend.cpp — Mann-Kendall and Theil-Sen, written for short series.
#include "report/findings/growth/trend.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

namespace vramscope::report {
namespace {

using Orders = std::vector<double>; // how many have so many pairs out of order, which is the index

// One more value, above all `placed` ones, stands at any of placed + 1 places.
void place_next(Orders& orders, std::size_t placed)
{
    orders.resize(orders.size() + placed);
    for (std::size_t at = orders.size(); at-- > 0;)
        for (std::size_t shift = 1; shift <= std::min(placed, at); ++shift)
            orders[at] += orders[at - shift];
}

// The inverse: of equal values, the order among themselves is none.
void forget_place(Orders& orders, std::size_t placed)
{
    for (std::size_t at = 0; at < orders.size(); ++at)
        for (std::size_t shift = 1; shift <= std::min(placed, at); ++shift)
            orders[at] -= orders[at - shift];
    orders.resize(orders.size() - placed);
}

// Exact, as kMostRanked values have fewer than 2^53 orders.
Orders orders_of(const std::map<double, std::size_t>& times)
{
    Orders orders{1.0};
    std::size_t placed = 0;
    for (const auto& [value, count] : times)
        for (std::size_t equal = 0; equal < count; ++equal, ++placed) {
            place_next(orders, placed);
            forget_place(orders, equal);
        }
    return orders;
}

} // namespace

double rising_confidence(std::span<const double> values)
{
    std::size_t inversions = 0;
    std::map<double, std::size_t> times;
    for (std::size_t at = 0; at < values.size(); ++at) {
        ++times[values[at]];
        for (std::size_t later = at + 1; later < values.size(); ++later)
            inversions += values[later] < values[at];
    }
    const Orders orders = orders_of(times);
    const auto as_rising = orders.begin() + static_cast<std::ptrdiff_t>(inversions) + 1;
    return 1 - std::accumulate(orders.begin(), as_rising, 0.0) /
                   std::accumulate(orders.begin(), orders.end(), 0.0);
}

Slope slope_of(std::span<const double> x, std::span<const double> y)
{
    std::vector<double> slopes;
    for (std::size_t at = 0; at < x.size(); ++at)
        for (std::size_t later = at + 1; later < x.size(); ++later)
            if (x[later] > x[at])
                slopes.push_back((y[later] - y[at]) / (x[later] - x[at]));
    if (slopes.empty())
        return {};
    std::sort(slopes.begin(), slopes.end());
    const std::size_t half = slopes.size() / 2;
    const double median =
        slopes.size() % 2 == 1 ? slopes[half] : (slopes[half - 1] + slopes[half]) / 2;
    // By the spread of Kendall's score, which is that of the ranks around the median.
    const auto points = static_cast<double>(x.size());
    const double spread = 1.96 * std::sqrt(points * (points - 1) * (2 * points + 5) / 18) / 2;
    const auto away = std::min(half, static_cast<std::size_t>(std::ceil(spread)));
    return {median, slopes[half - away], slopes[std::min(half + away, slopes.size() - 1)]};
}

std::vector<double> lasting(std::span<const double> values)
{
    std::vector<double> least(values.begin(), values.end());
    for (std::size_t at = least.size(); at-- > 1;)
        least[at - 1] = std::min(least[at - 1], least[at]);
    return least;
}

double deepest_fall(std::span<const double> values) noexcept
{
    double highest = 0;
    double deepest = 0;
    for (const double value : values) {
        highest = std::max(highest, value);
        deepest = std::max(deepest, highest - value);
    }
    return deepest;
}

double confidence_of_rises(std::uint64_t times) noexcept
{
    double orders = 1;
    for (std::uint64_t at = 2; at <= std::min<std::uint64_t>(times, 20); ++at)
        orders *= static_cast<double>(at);
    return 1 - 1 / orders;
}

} // namespace vramscope::report
