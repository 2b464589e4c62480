// report/plan/scale.hpp — what one more of a dimension costs, from runs at two or more sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/plan/plan.hpp"

namespace vramscope::report::plan {

struct Dimension {
    std::string name;                  // "batch"
    std::vector<std::uint64_t> values; // in the order of the logs
};

// "batch=8,16,32"; throws Error (usage) for anything else, and unless there are as many values as
// logs, at least two of them different.
Dimension read_dimension(const std::string& text, std::size_t logs);

// Least squares: fixed + each * x, and with three runs or more the standard error.
PlanLine fit_line(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& bytes);

// Takes from each process the device that has most. The plan has a process for each of the values.
PlanScale find_scale(const Dimension& dimension, const Plan& plan);

} // namespace vramscope::report::plan
