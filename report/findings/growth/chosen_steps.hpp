// report/findings/growth/chosen_steps.hpp — which ranges or marks the work is counted by.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/findings/growth/growth_rule.hpp"
#include "report/replay/steps.hpp"

namespace vramscope::report {

inline constexpr std::uint64_t kFewestSteps = 4;  // fewer are no steps
inline constexpr std::uint64_t kProvingSteps = 5; // fewer cannot prove growth

// The life of a program.
struct Work {
    const StepCounter& allocations;
    std::uint64_t begin_ticks = 0;
    std::uint64_t end_ticks = 0;
};

class ChosenSteps {
public:
    // Candidates are names that are there at least kFewestSteps times and cover at least half of
    // the time that any of these covers. What says preparation and CCCL's own ranges are none.
    ChosenSteps(const Steps& steps, const Work& work); // they outlive this

    // What the work is best counted by: names that say step or iteration go first, then batch and
    // epoch, then those with many instances, the outer before the inner. Those that say nothing of
    // the kind must be there in both halves of the work; and none is a part of it, before a larger
    // one. nullptr: there is none.
    const StepName* best() const noexcept;
    // Whether there are such steps, even if they are only a part.
    bool any() const noexcept;
    // What a place is best counted by: the best of the ranges around it; else the best of those
    // that say something of it. These are not the ones that are a part of its life, before a larger
    // one; nor those that began when it was over, unless they say step or the place prepares: then
    // it was what comes before the steps. `ranges`: around it, numbers as '#'.
    const StepName* best_of(const PlaceSeries& place, std::span<const std::string> ranges) const;

private:
    struct Candidate {
        const StepName* steps;
        int says_step;
        bool in_both_halves;
        bool tells() const noexcept { return says_step > 0 || in_both_halves; }
        bool operator<(const Candidate& other) const noexcept; // the best one is the least
    };

    bool suits(const Candidate& candidate, const PlaceSeries& place) const;

    Work work_;
    std::vector<Candidate> candidates_; // the best first
};

} // namespace vramscope::report
