// report/findings/growth/growth_stop.hpp — did something that rose stop rising?
//
// Told from where it rose and how long nothing came behind that. Pure functions of one series.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "report/findings/growth/growth_window.hpp"

namespace vramscope::report {

inline constexpr double kSure = 0.95;
inline constexpr double kTail = 0.1; // of the work: what is without growth for longer is told

// Those at whose begin a lasting level is higher than before.
std::vector<std::size_t> rising_spans(std::span<const double> level);

// Rises at these places of an axis, and then none up to its end, for long beside the longest time
// between two of them.
bool are_over(std::span<const double> rises, double begin, double end);

// In the first half of the window it rose three times as much as in the second, or more, and then
// stopped. `rises`: where.
bool levelled_off(const GrowthWindow& window, std::span<const double> level,
                  std::span<const double> rises);

} // namespace vramscope::report
