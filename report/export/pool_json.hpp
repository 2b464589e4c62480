// report/export/pool_json.hpp — the internal pool in JSON: PyTorch's names and shapes.
#pragma once

#include "report/analyze/out_of_memory.hpp"
#include "report/analyze/pool_report.hpp"
#include "report/export/json_parts.hpp"

namespace vramscope::report {

// null: the log says nothing of a pool, not even that there was none.
Json pool_json(const PoolReport& pool);
Json shortage_json(const OutOfMemory& shortage);

} // namespace vramscope::report
