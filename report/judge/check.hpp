// report/judge/check.hpp — a report against a budget: what a build may fail on.
//
// Each process is judged by itself, and the worst decides. What was measured over its budget has
// failed, also in a log that does not prove anything else; what is within it in a process of which
// events are missing, or that did not come to its own end, is not known to be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/check.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

Check check(const Report& report, const Budget& budget);

} // namespace vramscope::report
