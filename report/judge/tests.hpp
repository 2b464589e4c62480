// report/judge/tests.hpp — each test against the budgets of leaks and peaks.
//
// A test that ended is judged by what it did, however the process ended later; but what it held
// when the process crashed may be no leak.
#pragma once

#include "report/model/check.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

void check_tests(Check& check, const Report& report, const Budget& budget);

} // namespace vramscope::report
