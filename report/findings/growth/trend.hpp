// report/findings/growth/trend.hpp — is a series of numbers rising, how fast, and how sure is that?
//
// Nothing is assumed about how the numbers are spread: one wild value changes little. Pure
// functions over at most a few dozen points; their cost goes with the square of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::report {

constexpr std::size_t kMostRanked = 18;

// Mann-Kendall: how sure it is, 0 to 1, that at most kMostRanked values rise and are not in a
// chance order: 1 less the part of all their orders that rise as much. 0 for fewer than two values.
double rising_confidence(std::span<const double> values);

// Theil-Sen: the median of the slopes between all pairs of points, and between what it lies with 95
// of 100 samples. `x` does not fall; pairs at one place are left out. All 0 if no pair is left.
struct Slope {
    double median = 0;
    double least = 0;
    double most = 0;
};
Slope slope_of(std::span<const double> x, std::span<const double> y);

// For each place the least from there on: what was there and stayed, whatever came and went on top.
std::vector<double> lasting(std::span<const double> values);

// The deepest fall from any value to a later one.
double deepest_fall(std::span<const double> values) noexcept;

// How sure `times` rises one after the other make a trend, if chance orders them any way.
double confidence_of_rises(std::uint64_t times) noexcept;

} // namespace vramscope::report
