// report/page/findings.hpp — what leaks, grows and fails, as a page has it.
#pragma once

#include "report/model/report.hpp"
#include "report/page/tables.hpp"

namespace vramscope::report {

Json page_leaks(const std::vector<Leak>& leaks, const char* what, PageTables& tables);
Json page_growth(const std::vector<Growth>& growth, PageTables& tables);
Json page_shortages(const std::vector<Shortage>& shortages, PageTables& tables);
Json page_misuse(const Report& report, PageTables& tables);

} // namespace vramscope::report
