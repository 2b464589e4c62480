// report/json/sums.hpp — sums for the page, until it is made of the report's document.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

inline Json totals_json(const Totals& totals)
{
    return to_json(totals, Audience::page);
}

inline Json coverage_json(const Coverage& coverage)
{
    return to_json(coverage, Audience::page);
}

} // namespace vramscope::report
