// report/findings/growth/growth_rate.hpp — how fast a place grows, and whether ever faster.
#pragma once

#include <span>

#include "report/findings/growth/growth_window.hpp"

namespace vramscope::report {

// From before its first rise on; there is one.
GrowthRate rate_of(const PlaceSeries& place, const GrowthWindow& window, const Rises& rises,
                   const GrowthContext& context);

// Whether each rise is steeper than those before, as far as chance can be told: a buffer that is
// doubled in each step does so.
bool speeds_up(const GrowthWindow& window, std::span<const double> values);

// The rate of what speeds up: over the whole of its growth, since it has no one slope. `first`: the
// span of its first rise.
void average_over(GrowthFinding& finding, const WindowSpan& first, const GrowthWindow& window,
                  const GrowthContext& context);

// The rate of what is not sure to grow. A median slope is that of the steps in which something
// grew: over all steps it must not make more than was added.
void average_out(GrowthFinding& finding, const WindowSpan& first, const GrowthWindow& window,
                 const GrowthContext& context);

} // namespace vramscope::report
