// report/page/plan.hpp — a plan, as a page has it.
#pragma once

#include "report/model/plan.hpp"
#include "report/page/tables.hpp"

namespace vramscope::report {

Json page_plan(const Plan& plan, PageTables& tables);

} // namespace vramscope::report
