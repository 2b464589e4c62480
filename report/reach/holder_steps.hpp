// report/reach/holder_steps.hpp — the steps of a chain of holders, each told once.
//
// Along a list the same step comes again and again, once more for each of its elements. So blocks
// that are held by the same steps are one group, however often a step comes: from once to N times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::report {

struct HolderStep {
    std::string text;
    std::uint64_t least_times = 1; // one after the other
    std::uint64_t most_times = 1;
};
using HolderSteps = std::vector<HolderStep>;

// The step behind these: once more the last one, if it is the same.
void add_step(HolderSteps& steps, std::string text);
// Takes in how often others of the same texts come.
void widen(HolderSteps& steps, const HolderSteps& others);
std::string texts_of(const HolderSteps& steps); // without their numbers: what groups have in common
std::vector<std::string> chain_of(const HolderSteps& steps); // as they are shown

} // namespace vramscope::report
