// report/json/ranks.hpp — the processes of a job side by side, in JSON.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

Json ranks_json(const Report& report);

} // namespace vramscope::report
