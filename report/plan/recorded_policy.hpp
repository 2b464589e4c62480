// report/plan/recorded_policy.hpp — the policy that the recorded program ran with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/plan/replay/policy.hpp"
#include "report/plan/trace/read_trace.hpp"

namespace vramscope::report::plan {

// Nothing: no policy here is it, or the log does not say. `unknown` takes in sentences what of it
// the replay leaves out.
std::optional<PolicyRow> recorded_policy(const TracedLog& log, std::vector<std::string>& unknown);

} // namespace vramscope::report::plan
