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

// Where the blocks lay, at the pool's peak and at the end.
void write_maps(TextOutput& out, const PoolDevice& device);
void write_map_legend(TextOutput& out);

} // namespace vramscope::report
