// report/page/tests.hpp — what each test of a program did to its memory, as a page has it.
#pragma once

#include "report/model/check.hpp"
#include "report/model/report.hpp"
#include "report/page/tables.hpp"

namespace vramscope::report {

Json page_tests(const Process& process, PageTables& tables);
// The budget, line by line, and the tests that are over it.
Json page_check(const Check& check, PageTables& tables);

} // namespace vramscope::report
