// report/findings/totals.hpp — the numbers of one process, out of what was read and found.
#pragma once

#include "report/log/log_reader.hpp"
#include "report/model/report.hpp"
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

Coverage coverage_of(const ReplayCounts& counts, const LogTables& tables, const LogReader& reader,
                     const format::FileHeader& header, bool running);

// What is known before any rule of suppression: calls, peaks, and rows that no rule is about.
Totals totals_of(const ReplayCounts& counts, const LostRows& rows);

// Adds what leaked to the totals of each process, once the known leaks have a list of their own.
void count_leaks(Report& report);

} // namespace vramscope::report
