// report/text/ranks.hpp — the processes of a job side by side, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>

#include "report/text/views.hpp"

namespace vramscope::report {

// A row for each process, and in which of them each call stack leaks. Nothing for a single process.
void write_ranks(std::ostream& out, const Report& report, const TextStyle& style);

nlohmann::ordered_json ranks_json(const Report& report);

} // namespace vramscope::report
