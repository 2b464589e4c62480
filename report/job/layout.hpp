// report/job/layout.hpp — whether ranks are those of a stage, a shard or a node.
#pragma once

#include <cstdint>
#include <vector>

namespace vramscope::report {

// Launchers and frameworks deal out ranks by remainders and by blocks: each eighth rank, or those
// from 56 to 63, or each second one of these. Whether `some` are all of `all` that lie in one such
// part of `world` ranks, or in several alike. One rank is no part. The numbers ascend.
bool is_part_of_layout(const std::vector<std::uint32_t>& some,
                       const std::vector<std::uint32_t>& all, std::uint32_t world);

} // namespace vramscope::report
