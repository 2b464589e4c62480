// report/model/report.cpp — the sums of several processes, and the words of the JSON report.
#include "report/model/report.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vramscope::report {

namespace {

// Both are sorted.
void unite(std::vector<std::string>& names, const std::vector<std::string>& more)
{
    std::vector<std::string> both;
    std::set_union(names.begin(), names.end(), more.begin(), more.end(), std::back_inserter(both));
    names = std::move(both);
}

} // namespace

void Totals::add_leaked(const MemoryTotal& more)
{
    leaked_bytes += more.bytes;
    leaked_blocks += more.blocks;
    const auto at =
        std::find_if(leaked_by_memory.begin(), leaked_by_memory.end(),
                     [&](const MemoryTotal& total) { return total.memory == more.memory; });
    if (at == leaked_by_memory.end()) {
        leaked_by_memory.push_back(more);
        return;
    }
    at->bytes += more.bytes;
    at->blocks += more.blocks;
}

Totals& Totals::operator+=(const Totals& other)
{
    allocations += other.allocations;
    frees += other.frees;
    allocated_bytes += other.allocated_bytes;
    peak_device_bytes = std::max(peak_device_bytes, other.peak_device_bytes);
    peak_host_bytes = std::max(peak_host_bytes, other.peak_host_bytes);
    for (const MemoryTotal& total : other.leaked_by_memory)
        add_leaked(total);
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

bool Coverage::is_whole() const noexcept
{
    return !truncated && damaged_chunks == 0 && undefined_events == 0 && missed_frees == 0 &&
           lost_events() == 0;
}

std::string Process::info_value(std::string_view key) const
{
    for (const auto& [name, value] : info) {
        if (name == key)
            return value;
    }
    return {};
}

} // namespace vramscope::report
