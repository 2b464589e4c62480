// report/json/pool.hpp — the internal pool in JSON: PyTorch's names and shapes.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/pool.hpp"
#include "report/model/shortages.hpp"

namespace vramscope::report {

// null: the log says nothing of a pool, not even that there was none.
Json pool_json(const PoolReport& pool);
Json shortage_json(const Shortage& shortage);

} // namespace vramscope::report
