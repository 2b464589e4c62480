// report/plan/holders.hpp — the call stacks that held the peak, and what a change would save.
#pragma once

#include <vector>

#include "report/model/plan/plan.hpp"
#include "report/plan/places.hpp"
#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

inline constexpr std::size_t kMostHolders = 20;

// Fills in the holders of the device, the largest first; what is beyond kMostHolders is summed up.
void add_holders(PlanDevice& to, const TraceWatch::DeviceTrace& device, Places& places);

// Advice of reports (never freed, released late, allocated early), each with what a replay of the
// trace says in which that memory is not there at the peak: those of most bytes, and the largest
// saving first. `peak_reserved`: under the policy, without a change.
std::vector<PlanSaving> find_savings(const TracedLog& log, const TraceWatch::DeviceTrace& device,
                                     const PolicyRow& policy, std::uint64_t peak_reserved,
                                     Places& places);

} // namespace vramscope::report::plan
