// report/judge/ranks.hpp — the processes of one job side by side.
//
// Rank, local rank, world size and launcher come from the log's info records of these names; a
// process without them is one all the same. Leaks of several processes are one when they differ in
// nothing but process, device and sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/ranks.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

Ranks compare_ranks(const Report& report);

} // namespace vramscope::report
