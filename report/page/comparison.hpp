// report/page/comparison.hpp — two runs side by side, as a page has them.
#pragma once

#include "report/model/comparison.hpp"
#include "report/model/report.hpp"
#include "report/page/tables.hpp"

namespace vramscope::report {

Json page_comparison(const Comparison& comparison, const Report& base, PageTables& tables);

} // namespace vramscope::report
