// report/findings/sums.cpp — counts of the replay to totals and coverage; the sums of several
// processes.
#include "report/findings/sums.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/findings/newer_functions.hpp"

namespace vramscope::report {

using format::Memory;

namespace {

void add_to(std::vector<MemoryTotal>& totals, const MemoryTotal& more)
{
    const auto at = std::find_if(totals.begin(), totals.end(), [&](const MemoryTotal& total) {
        return total.memory == more.memory;
    });
    if (at == totals.end()) {
        totals.push_back(more);
        return;
    }
    at->bytes += more.bytes;
    at->blocks += more.blocks;
}

// Both are sorted.
void unite(std::vector<std::string>& names, const std::vector<std::string>& more)
{
    std::vector<std::string> both;
    std::set_union(names.begin(), names.end(), more.begin(), more.end(), std::back_inserter(both));
    names = std::move(both);
}

} // namespace

Totals totals_of(const ReplayCounts& counts, const std::vector<LostBlocks>& lost)
{
    Totals totals;
    totals.allocations = counts.memory_allocations;
    totals.frees = counts.memory_frees;
    totals.allocated_bytes = counts.allocated_bytes;
    totals.peak_device_bytes = counts.peak_device_bytes;
    totals.peak_host_bytes = counts.peak_host_bytes;
    for (const LostBlocks& blocks : lost) {
        if (blocks.memory == Memory::reservation) {
            totals.reserved_address_bytes += blocks.bytes;
            totals.address_reservations += blocks.blocks;
            continue;
        }
        if (class_of(blocks.memory) == format::MemoryClass::foreign) {
            totals.unclosed_imports += blocks.blocks;
            totals.unclosed_import_bytes += blocks.bytes;
        }
        if (blocks.memory == Memory::graph)
            totals.graph_bytes += blocks.bytes;
        if (!is_own_memory(blocks.memory))
            continue;
        totals.leaked_bytes += blocks.bytes;
        totals.leaked_blocks += blocks.blocks;
        add_to(totals.leaked_by_memory, {blocks.memory, blocks.bytes, blocks.blocks});
    }
    std::sort(totals.leaked_by_memory.begin(), totals.leaked_by_memory.end(),
              [](const MemoryTotal& a, const MemoryTotal& b) { return a.memory < b.memory; });
    return totals;
}

Coverage coverage_of(const ReplayCounts& counts, const LogTables& tables, const LogReader& reader,
                     const format::FileHeader& header, bool running)
{
    Coverage coverage;
    coverage.events = counts.events;
    coverage.allocations = counts.allocations;
    coverage.frees = counts.frees;
    coverage.unmatched_frees = counts.unmatched_frees;
    coverage.missed_frees = counts.missed_frees;
    coverage.undefined_events = counts.undefined_events;
    coverage.graph_allocations = counts.graph_allocations;
    coverage.failed_calls = counts.failed_calls;
    coverage.names_given = counts.names_given;
    coverage.pool_trims = counts.pool_trims;
    std::copy(std::begin(header.lost), std::end(header.lost), coverage.lost.begin());
    coverage.damaged_chunks = reader.damaged_chunks() + tables.undefined();
    coverage.truncated = reader.cut() && !running; // a log that grows is never there in full
    for (const Api& api : tables.apis()) {
        if (api.events > 0)
            coverage.entry_points_seen.push_back(api.name);
    }
    std::sort(coverage.entry_points_seen.begin(), coverage.entry_points_seen.end());
    coverage.unknown_entry_points = newer_functions(tables.info());
    return coverage;
}

Totals& Totals::operator+=(const Totals& other)
{
    allocations += other.allocations;
    frees += other.frees;
    allocated_bytes += other.allocated_bytes;
    peak_device_bytes = std::max(peak_device_bytes, other.peak_device_bytes);
    peak_host_bytes = std::max(peak_host_bytes, other.peak_host_bytes);
    leaked_bytes += other.leaked_bytes;
    leaked_blocks += other.leaked_blocks;
    for (const MemoryTotal& total : other.leaked_by_memory)
        add_to(leaked_by_memory, total);
    suppressed_bytes += other.suppressed_bytes;
    suppressed_blocks += other.suppressed_blocks;
    unclosed_imports += other.unclosed_imports;
    unclosed_import_bytes += other.unclosed_import_bytes;
    graph_bytes += other.graph_bytes;
    reserved_address_bytes += other.reserved_address_bytes;
    address_reservations += other.address_reservations;
    return *this;
}

Coverage& Coverage::operator+=(const Coverage& other)
{
    events += other.events;
    allocations += other.allocations;
    frees += other.frees;
    unmatched_frees += other.unmatched_frees;
    missed_frees += other.missed_frees;
    undefined_events += other.undefined_events;
    graph_allocations += other.graph_allocations;
    failed_calls += other.failed_calls;
    names_given += other.names_given;
    pool_trims += other.pool_trims;
    for (std::size_t reason = 0; reason < lost.size(); ++reason)
        lost[reason] += other.lost[reason];
    damaged_chunks += other.damaged_chunks;
    truncated = truncated || other.truncated;
    unite(entry_points_seen, other.entry_points_seen);
    unite(unknown_entry_points, other.unknown_entry_points);
    return *this;
}

std::uint64_t Coverage::lost_events() const noexcept
{
    std::uint64_t sum = 0;
    for (const std::uint64_t count : lost)
        sum += count;
    return sum;
}

} // namespace vramscope::report
