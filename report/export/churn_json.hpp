// report/export/churn_json.hpp — how a program allocates, in JSON.
#pragma once

#include "report/analyze/churn.hpp"
#include "report/export/json_parts.hpp"

namespace vramscope::report {

Json churn_json(const ChurnReport& churn);

} // namespace vramscope::report
