// report/findings/totals.cpp — counts of the replay, and sums of the rows that are listed.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "report/findings/findings.hpp"

namespace vramscope::report {

Coverage coverage_of(const ReplayCounts& counts, const LogTables& tables, const LogReader& reader,
                     const format::FileHeader& header, bool running)
{
    Coverage coverage;
    static_cast<EventCounts&>(coverage) = counts;
    std::copy(std::begin(header.lost), std::end(header.lost), coverage.lost.begin());
    if (header.full_ticks != 0)
        coverage.log_full_ns = reader.clock().ns(header.full_ticks);
    coverage.damaged_chunks = reader.damaged_chunks() + tables.undefined();
    coverage.truncated = reader.cut() && !running; // a log that grows is never there in full
    std::set<std::string> names;                   // an allocator has one for both directions
    for (const Api& api : tables.apis()) {
        if (api.events > 0)
            names.insert(api.name);
    }
    coverage.entry_points_seen.assign(names.begin(), names.end());
    coverage.unknown_entry_points = newer_functions(tables.info());
    return coverage;
}

Totals totals_of(const ReplayCounts& counts, const LostRows& rows)
{
    Totals totals;
    static_cast<MemoryCounts&>(totals) = counts.memory;
    for (const Leak& row : rows.graph_memory)
        totals.graph_bytes += row.bytes;
    for (const Leak& row : rows.reservations) {
        totals.reserved_address_bytes += row.bytes;
        totals.address_reservations += row.blocks;
    }
    return totals;
}

void count_leaks(Report& report)
{
    for (const Leak& row : report.leaks)
        if (is_own_memory(row.memory)) // else of a kind that this version does not know
            report.processes[row.process].totals.add_leaked({row.memory, row.bytes, row.blocks});
    for (const Leak& row : report.imports) {
        Totals& totals = report.processes[row.process].totals;
        totals.unclosed_imports += row.blocks;
        totals.unclosed_import_bytes += row.bytes;
    }
    for (const Leak& row : report.suppressed) {
        Totals& totals = report.processes[row.process].totals;
        totals.suppressed_blocks += row.blocks;
        if (row.kind != LeakKind::unclosed_import)
            totals.suppressed_bytes += row.bytes;
    }
    for (Process& process : report.processes)
        std::sort(process.totals.leaked_by_memory.begin(), process.totals.leaked_by_memory.end(),
                  [](const MemoryTotal& a, const MemoryTotal& b) { return a.memory < b.memory; });
}

} // namespace vramscope::report
