// report/json/sums.cpp — the sums of a report or of a process, and what of its log was seen.
#include "report/json/sums.hpp"

namespace vramscope::report {

Json totals_json(const Totals& totals)
{
    Json by_memory = Json::object();
    for (const MemoryTotal& total : totals.leaked_by_memory)
        by_memory[name(total.memory)] = {{"bytes", total.bytes}, {"blocks", total.blocks}};
    return {{"allocations", totals.allocations},
            {"frees", totals.frees},
            {"allocated_bytes", totals.allocated_bytes},
            {"peak_device_bytes", totals.peak_device_bytes},
            {"peak_host_bytes", totals.peak_host_bytes},
            {"leaked_bytes", totals.leaked_bytes},
            {"leaked_blocks", totals.leaked_blocks},
            {"leaked_by_memory", by_memory},
            {"suppressed_bytes", totals.suppressed_bytes},
            {"suppressed_blocks", totals.suppressed_blocks},
            {"address_reservations", totals.address_reservations},
            {"reserved_address_bytes", totals.reserved_address_bytes},
            {"unclosed_imports", totals.unclosed_imports},
            {"unclosed_import_bytes", totals.unclosed_import_bytes},
            {"graph_bytes", totals.graph_bytes}};
}

Json coverage_json(const Coverage& coverage)
{
    Json lost = Json::object();
    for (std::size_t reason = 0; reason < coverage.lost.size(); ++reason) {
        const char* const word = name(static_cast<format::Lost>(reason));
        lost[word] = lost.value(word, std::uint64_t{0}) + coverage.lost[reason];
    }
    return {{"events", coverage.events},
            {"allocations", coverage.allocations},
            {"frees", coverage.frees},
            {"unmatched_frees", coverage.unmatched_frees},
            {"missed_frees", coverage.missed_frees},
            {"undefined_events", coverage.undefined_events},
            {"graph_allocations", coverage.graph_allocations},
            {"failed_calls", coverage.failed_calls},
            {"names_given", coverage.names_given},
            {"pool_trims", coverage.pool_trims},
            {"lost", lost},
            {"lost_events", coverage.lost_events()},
            {"damaged_chunks", coverage.damaged_chunks},
            {"truncated", coverage.truncated},
            {"entry_points_seen", coverage.entry_points_seen},
            {"unknown_entry_points", coverage.unknown_entry_points}};
}

} // namespace vramscope::report
