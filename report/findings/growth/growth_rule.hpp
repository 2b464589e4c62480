// report/findings/growth/growth_rule.hpp — whether the memory of one place grows with the work.
//
// Growing is claimed of what rises again and again, evenly, far more than it ever falls, and up to
// the end of the work. The first fifth is warm-up. What rose and does not pass is told as unclear:
// a claim that comes late is better than a wrong one. Pure functions of one series.
#pragma once

#include <cstdint>
#include <vector>

#include "report/log/tick_clock.hpp"
#include "report/model/growth.hpp"
#include "report/replay/growth.hpp"
#include "report/replay/step_counter.hpp"

namespace vramscope::report {

// What a place had alive over the run.
struct PlaceSeries {
    std::vector<Floor> floors; // the last one is up to the end of the log
    std::uint64_t allocations = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t frees_by_last = 0; // before its last allocation
    std::uint64_t frees_later = 0;   // behind it, by the program: not with a context
    std::uint64_t first_ticks = 0;   // when its first and its last allocation were
    std::uint64_t last_ticks = 0;
    bool one_size = false;  // the blocks of each of its parts have one
    bool same_size = false; // all of its blocks have the same
    bool prepares = false;  // in ranges that say so: it loads, sets up or warms up
};

// The sum of places that are one place to a reader; there is at least one. They are added as step
// functions of time, each by its floors, so the sum is never more than what was really alive.
PlaceSeries sum_of(const std::vector<PlaceSeries>& places);

// What all places of one process have in common.
struct GrowthContext {
    const StepCounter* steps = nullptr; // nullptr: it has none that say something of the place
    const StepCounter& allocations;     // counts those at all places
    const TickClock& clock;
    std::uint64_t begin_ticks = 0; // when the log begins
    std::uint64_t end_ticks = 0;   // when the program's work ends
    bool beside_steps = false;     // it has steps, which say nothing of the place
};

inline constexpr std::uint64_t kRisesToTell = 3; // with fewer rises, nothing is said of growth

struct GrowthFinding {
    bool growing = false;
    // It stayed at a level while blocks came and went, or rose up to a level and stopped there.
    bool bounded = false;
    bool of_a_loop = false;  // not only of the making of something
    std::uint64_t rises = 0; // those that lasted, after the warm-up
    std::uint64_t bytes = 0; // added by all of these rises
    std::uint64_t blocks = 0;
    GrowthRate rate; // `per` is left empty
};

// A cheap test, which is true of every place that judge_growth() may find growing.
bool may_grow(const PlaceSeries& place, const GrowthContext& context);

GrowthFinding judge_growth(const PlaceSeries& place, const GrowthContext& context);

// Whether this moment, at which something was allocated for the last time, was in the first part of
// the work, which then went on without it.
bool is_start_up(std::uint64_t ticks, bool one_block, const GrowthContext& context);

} // namespace vramscope::report
