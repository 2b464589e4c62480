// report/judge/verdict.hpp — why a process's log does not prove what it shows.
#pragma once

#include <string>
#include <vector>

namespace vramscope::report {

struct Coverage;
struct Process;

// One line each, empty for a process whose list of leaks is the whole truth. Whether any memory
// call was seen is judged over all processes together, not here.
std::vector<std::string> reasons_for_doubt(const Process& process);

} // namespace vramscope::report
