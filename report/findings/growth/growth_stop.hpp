// report/findings/growth/growth_stop.hpp — did something that rose stop rising?
//
// It is told from where it rose, and how long it then did not. Pure functions of one series.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "report/findings/growth/growth_window.hpp"

namespace vramscope::report {

inline constexpr double kSure = 0.95;
inline constexpr double kTail = 0.1; // share of the work: a longer end without growth is told

// The places at which a lasting level begins that is higher than the one before.
std::vector<std::size_t> rising_spans(std::span<const double> level);

// Whether rises were at these places of an axis, and then none up to its end, for a time that is
// long beside the longest one between two of them.
bool are_over(std::span<const double> rises, double begin, double end);

// Whether it rose at least three times as much in the first half of the window as in the second,
// and then stopped. `rises`: the places where it rose.
bool levelled_off(const GrowthWindow& window, std::span<const double> level,
                  std::span<const double> rises);

} // namespace vramscope::report
