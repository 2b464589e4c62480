// report/page/drawn.hpp — what a page draws of devices: lines, moments and maps, in short forms.
//
// They are most of a page's bytes, so they are thinned, and have lists of numbers in place of rows.
#pragma once

#include <vector>

#include "report/json/documents.hpp"
#include "report/model/report.hpp"
#include "report/page/limits.hpp"

namespace vramscope::report {

// Of each process a list with an object for each of its devices, in the order of the report.
Json drawn_json(const Report& report, const PageLimits& limits);
// Of each process what its host memory was made of over time.
Json host_json(const Report& report, const PageLimits& limits);

// The members of the spans as a list each.
Json timeline_json(const std::vector<MemoryTime>& times);

} // namespace vramscope::report
