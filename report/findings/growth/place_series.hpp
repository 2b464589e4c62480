// report/findings/growth/place_series.hpp — what a place had alive over the run; sums of several.
//
// Places are added as step functions of time, each by its floors, so the sum is never more than
// what was really alive.
#pragma once

#include <cstdint>
#include <vector>

#include "report/replay/growth.hpp"

namespace vramscope::report {

struct PlaceSeries {
    std::vector<Floor> floors; // the last one is up to the end of the log
    std::uint64_t allocations = 0;
    std::uint64_t first_ticks = 0; // when its first and its last allocation were
    std::uint64_t last_ticks = 0;
    bool one_size = false;
};

// The sum of places that are one place to a reader. There is at least one.
PlaceSeries sum_of(const std::vector<PlaceSeries>& places);

} // namespace vramscope::report
