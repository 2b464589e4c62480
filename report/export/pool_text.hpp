// report/export/pool_text.hpp — the internal pool as text: a line, a table and a map per device.
#pragma once

#include <string>

#include "report/analyze/pool_report.hpp"
#include "report/export/text_output.hpp"

namespace vramscope::report {

// How the pool was set: "cache, sync lazy"; empty: the log does not say.
std::string pool_line(const PoolReport& pool);

// A table and two maps for each device, as far as there was a pool.
void write_pools(TextOutput& out, const Report& report);

// `width` cells for the bytes of all segments one behind the other.
std::string map_cells(const PoolMap& map, std::size_t width);

} // namespace vramscope::report
