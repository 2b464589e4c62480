// report/findings/growth/trend.cpp — Mann-Kendall and Theil-Sen, written for short series.
#include "report/findings/growth/trend.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace vramscope::report {
namespace {

constexpr std::size_t kMostExact = 10; // with more values, the normal approximation is good enough

// Of all orders of n values, how many have so many pairs out of order: index = inversions.
std::vector<double> orders_by_inversions(std::size_t n)
{
    std::vector<double> orders{1.0};
    for (std::size_t values = 2; values <= n; ++values) {
        std::vector<double> more(orders.size() + values - 1, 0.0);
        for (std::size_t at = 0; at < orders.size(); ++at)
            for (std::size_t shift = 0; shift < values; ++shift)
                more[at + shift] += orders[at];
        orders = std::move(more);
    }
    return orders;
}

// The chance that n values in any order have at most so many inversions.
double chance_exact(std::size_t n, std::size_t inversions)
{
    const std::vector<double> orders = orders_by_inversions(n);
    double all = 0;
    double as_few = 0;
    for (std::size_t at = 0; at < orders.size(); ++at) {
        all += orders[at];
        as_few += at <= inversions ? orders[at] : 0;
    }
    return as_few / all;
}

double cubic(double n) noexcept
{
    return n * (n - 1) * (2 * n + 5);
}

} // namespace

double rising_confidence(std::span<const double> values)
{
    const std::size_t n = values.size();
    if (n < 2)
        return 0;
    double score = 0;
    std::size_t inversions = 0;
    std::map<double, double> equals;
    for (std::size_t at = 0; at < n; ++at) {
        equals[values[at]] += 1;
        for (std::size_t later = at + 1; later < n; ++later) {
            score += values[later] > values[at] ? 1 : values[later] < values[at] ? -1 : 0;
            inversions += values[later] < values[at];
        }
    }
    if (n <= kMostExact && equals.size() == n)
        return 1 - chance_exact(n, inversions);
    double variance = cubic(static_cast<double>(n));
    for (const auto& [value, times] : equals)
        variance -= cubic(times);
    if (variance <= 0 || score <= 0)
        return 0;
    const double z = (score - 1) / std::sqrt(variance / 18);
    return 1 - std::erfc(z / std::sqrt(2.0)) / 2;
}

double median_slope(std::span<const double> x, std::span<const double> y)
{
    std::vector<double> slopes;
    for (std::size_t at = 0; at < x.size(); ++at)
        for (std::size_t later = at + 1; later < x.size(); ++later)
            if (x[later] > x[at])
                slopes.push_back((y[later] - y[at]) / (x[later] - x[at]));
    if (slopes.empty())
        return 0;
    const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
    std::nth_element(slopes.begin(), middle, slopes.end());
    if (slopes.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(slopes.begin(), middle)) / 2;
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
