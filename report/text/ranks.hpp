// report/text/ranks.hpp — the processes of a job side by side, as text.
#pragma once

#include <ostream>

#include "report/text/views.hpp"

namespace vramscope::report {

// A row for each process, and in which of them each call stack leaks. Nothing for a single process.
void write_ranks(std::ostream& out, const Report& report, const TextStyle& style);

} // namespace vramscope::report
