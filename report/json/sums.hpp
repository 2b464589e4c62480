// report/json/sums.hpp — the sums of a report or of a process, and what of its log was seen.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

Json totals_json(const Totals& totals);
Json coverage_json(const Coverage& coverage);

} // namespace vramscope::report
