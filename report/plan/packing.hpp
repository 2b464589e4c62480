// report/plan/packing.hpp — addresses for blocks whose lives are all known before.
//
// To find the least memory for them is NP-hard (dynamic storage allocation): the answer is an
// interval. No placement needs less than what is alive at once; one was found that needs `upper`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/plan/trace/trace.hpp"

namespace vramscope::report::plan {

struct Lifetime { // [begin, end) in any unit of time
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t bytes = 0;
};

struct Packing {
    std::uint64_t lower = 0;
    std::uint64_t upper = 0;
    std::string method;
    std::vector<std::uint64_t> offsets; // one for each block: a placement that reaches `upper`
};

// Orders of the blocks by size, area and lifetime, each block in the tightest gap; then `steps`
// small changes of the best order, each kept unless it is worse. Time: blocks squared for a step.
Packing pack(const std::vector<Lifetime>& blocks, std::size_t steps);

inline constexpr std::size_t kMostPacked = 2000;
inline constexpr std::size_t kPackingWork = 400'000'000; // looks at pairs of blocks

// The blocks of a trace, in units of 512 bytes. Where there are more than kMostPacked, the smaller
// ones are placed as they come, each in the smallest hole, in a range of their own.
Packing pack(const Trace& trace, std::size_t work = kPackingWork);

} // namespace vramscope::report::plan
