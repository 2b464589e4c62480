// report/findings/sums.hpp — the numbers of one process, out of what was read of its log.
#pragma once

#include <vector>

#include "report/log/log_reader.hpp"
#include "report/model/report.hpp"
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

Totals totals_of(const ReplayCounts& counts, const std::vector<LostBlocks>& lost);
Coverage coverage_of(const ReplayCounts& counts, const LogTables& tables, const LogReader& reader,
                     const format::FileHeader& header, bool running);

} // namespace vramscope::report
