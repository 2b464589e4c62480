// report/job/far_off.hpp — values of processes that are far from what is usual among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vramscope::report {

using Values = std::vector<std::pair<std::size_t, std::uint64_t>>; // of processes

inline constexpr std::uint64_t kLeastThatMatters = 1u << 20; // bytes

struct FarOff {
    std::vector<std::size_t> below;
    std::vector<std::size_t> above;
    std::uint64_t usual = 0; // the median
};

// Nothing where there are few values.
FarOff far_off(const Values& values);

} // namespace vramscope::report
