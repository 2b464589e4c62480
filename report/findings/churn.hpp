// report/findings/churn.hpp — what allocating costs a process.
//
// How often it allocates, how long that takes in the driver, and where it gives memory back that it
// could have kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/findings/places/stack_reader.hpp"
#include "report/model/churn.hpp"
#include "report/replay/churn.hpp"
#include "report/replay/heap/sites.hpp"

namespace vramscope::report {

ChurnReport describe_churn(const ChurnCounts& counts, const Sites& sites, const LogTables& tables,
                           const TickClock& clock, StackReader& stacks);

} // namespace vramscope::report
