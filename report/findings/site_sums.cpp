// report/findings/site_sums.cpp — every site, by the place that a reader sees.
#include <algorithm>
#include <map>
#include <utility>

#include "report/findings/findings.hpp"
#include "report/replay/peak.hpp"
#include "report/replay/site_peaks.hpp"

namespace vramscope::report {

std::vector<std::uint64_t> bytes_at_peaks(const PeakHolders& holders, std::size_t sites)
{
    std::vector<std::uint64_t> bytes(sites);
    for (const std::vector<PeakHolding>& device : holders.at_peaks())
        for (const PeakHolding& holding : device)
            bytes[holding.site] += holding.bytes;
    return bytes;
}

std::vector<SiteSums> sum_up_sites(const Sites& sites, const SitePeaks& peaks,
                                   const PeakHolders& holders, StackReader& stacks)
{
    const std::vector<std::uint64_t> at_peak = bytes_at_peaks(holders, sites.all().size());
    std::map<PlaceKey, SiteSums> rows;
    for (SiteId id = 0; id < sites.all().size(); ++id) {
        const Site& site = sites[id];
        if (!is_own_memory(site.memory))
            continue;
        SiteSums row;
        static_cast<CallPlace&>(row) = stacks.read_row(site.api, site.stack, site.first_ticks);
        row.memory = site.memory;
        row.device = site.device;
        SiteSums& sums = rows.try_emplace(key_of_place(row), std::move(row)).first->second;
        sums.allocations += site.allocations;
        sums.frees += site.frees;
        sums.allocated_bytes += site.allocated_bytes;
        sums.live_bytes += site.live_bytes;
        sums.live_blocks += site.live_blocks;
        sums.peak_bytes += peaks.bytes(id);
        sums.at_peak_bytes += at_peak[id];
    }
    std::vector<SiteSums> all;
    for (auto& [key, row] : rows)
        all.push_back(std::move(row));
    return all;
}

void add_findings_to_sites(Report& report)
{
    std::vector<std::map<PlaceKey, SiteSums*>> sites(report.processes.size());
    for (std::size_t at = 0; at < sites.size(); ++at)
        for (SiteSums& row : report.processes[at].sites)
            sites[at].emplace(key_of_place(row), &row);
    const auto site_of = [&](const auto& row) -> SiteSums* {
        const auto found = sites[row.process].find(key_of_place(row));
        return found == sites[row.process].end() ? nullptr : found->second;
    };
    for (const Leak& leak : report.leaks) // the largest first
        if (SiteSums* const site = site_of(leak)) {
            if (site->leaked_blocks == 0)
                site->leak_class = leak.leak_class;
            site->leaked_bytes += leak.bytes;
            site->leaked_blocks += leak.blocks;
        }
    for (const Growth& growth : report.growth) // the fastest first
        if (SiteSums* const site = site_of(growth); site && !site->growth.grows())
            site->growth = growth.rate;
}

} // namespace vramscope::report
