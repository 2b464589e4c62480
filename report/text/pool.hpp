// report/text/pool.hpp — memory of each device as a table; the internal pool as a line and
// maps.
#pragma once

#include <string>

#include "report/model/pool.hpp"
#include "report/text/output.hpp"

namespace vramscope::report {

// How the pool was set: "cache, sync lazy"; empty: the log does not say.
std::string pool_line(const PoolReport& pool);

// A table for each device; with a pool, two maps too.
void write_pools(TextOutput& out, const Report& report);

// Where the blocks lay, at the pool's peak and at the end.
void write_maps(TextOutput& out, const PoolDevice& device);
void write_map_legend(TextOutput& out);

} // namespace vramscope::report
