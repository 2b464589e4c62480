// report/json/churn.hpp — how a program allocates, in JSON.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/churn.hpp"

namespace vramscope::report {

Json churn_json(const ChurnReport& churn);

} // namespace vramscope::report
