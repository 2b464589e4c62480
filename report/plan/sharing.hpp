// report/plan/sharing.hpp — what one buffer for the blocks of two call stacks would save.
#pragma once

#include <vector>

#include "report/model/plan/plan.hpp"
#include "report/plan/places.hpp"
#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

// Pairs of call stacks, one of which has blocks at the peak, by what sharing saves, the largest
// first. Of one stream each: there the log's order is the order of use. `peak_reserved`: under the
// policy, as the program is.
std::vector<PlanSharing> find_sharing(const TraceWatch::DeviceTrace& device,
                                      const PolicyRow& policy, std::uint64_t peak_reserved,
                                      Places& places);

} // namespace vramscope::report::plan
