// report/judge/processes_with.hpp — which processes have what a headline tells.
#pragma once

#include <cstddef>
#include <vector>

#include "report/model/report.hpp"

namespace vramscope::report {

// Indexes into Report::processes, ascending. Empty: nothing of the kind was found, or it is no kind
// of finding.
std::vector<std::size_t> processes_with(HeadlineKind kind, const Report& report);

// Where events are missing, nobody knows that something grows, or that nothing was done.
bool is_proven(const Report& report, std::size_t process);

bool is_told(const Report& report, const ContextRow& row);
// Not what was only a question, and not what is told as out of memory.
bool is_told(const Report& report, const FailedCall& row);

} // namespace vramscope::report
