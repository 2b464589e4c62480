// report/findings/memory/tests.hpp — the tests of a process become rows, with the stacks of leaks.
#pragma once

#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/tests.hpp"
#include "report/replay/tests.hpp"

namespace vramscope::report {

// In order of time. `tests` are finished.
std::vector<TestRow> find_tests(const Tests& tests, const Sites& sites, const LeakSource& source);

} // namespace vramscope::report
