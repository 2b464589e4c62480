// report/json/tests.hpp — what each test did to its memory, in JSON.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/tests.hpp"

namespace vramscope::report {

Json test_json(const TestRow& test);

} // namespace vramscope::report
