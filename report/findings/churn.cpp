// report/findings/churn.cpp — sums by place, and the driver's time by entry point.
#include <algorithm>
#include <map>
#include <tuple>

#include "report/findings/findings.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostReadStacks = 64; // names cost more than all else in a row

std::uint64_t duration_ns(const TickClock& clock, std::uint64_t start_ticks, std::uint64_t ticks)
{
    const std::uint64_t end = ticks > UINT64_MAX - start_ticks ? UINT64_MAX : start_ticks + ticks;
    return clock.ns(end) - clock.ns(start_ticks);
}

void add_site(ChurnSite& row, const Site& site, const SiteChurn& churn)
{
    row.allocations += site.allocations;
    row.frees += site.frees;
    row.allocated_bytes += site.allocated_bytes;
    row.add(churn);
}

bool costs_more(const ChurnSite& a, const ChurnSite& b)
{
    return std::tie(a.redundant_driver, a.redundant, a.allocations) >
           std::tie(b.redundant_driver, b.redundant, b.allocations);
}

void add_driver(ChurnReport& report, const ChurnCounts& counts, const LogTables& tables,
                const TickClock& clock)
{
    for (const auto& [api, sum] : counts.driver()) {
        const bool named = api < tables.apis().size() && tables.apis()[api].defined;
        DriverCalls row{named ? tables.apis()[api].name : std::string(), sum.calls,
                        duration_ns(clock, clock.start_ticks(), sum.ticks),
                        duration_ns(clock, clock.start_ticks(), sum.longest_ticks)};
        report.driver_calls += row.calls;
        report.driver_ns += row.total_ns;
        report.driver.push_back(std::move(row));
    }
    std::sort(report.driver.begin(), report.driver.end(),
              [](const DriverCalls& a, const DriverCalls& b) {
                  return std::tie(b.total_ns, a.entry_point) < std::tie(a.total_ns, b.entry_point);
              });
}

void add_histograms(ChurnReport& report, const ChurnCounts& counts)
{
    for (std::size_t bits = 0; bits < counts.sizes().size(); ++bits) {
        const auto& size = counts.sizes()[bits];
        if (size.blocks > 0 || !report.sizes.empty())
            report.sizes.push_back(
                {bits == 0 ? 0 : std::uint64_t{1} << (bits - 1), size.blocks, size.bytes});
    }
    while (!report.sizes.empty() && report.sizes.back().blocks == 0)
        report.sizes.pop_back();
    std::uint64_t below = 1000;
    for (std::size_t bin = 0; bin < counts.lifetimes().size(); ++bin, below *= 10)
        report.lifetimes.push_back(
            {bin + 1 < counts.lifetimes().size() ? below : 0, counts.lifetimes()[bin]});
}

// What one call of each entry point took on average.
class DriverCosts {
public:
    explicit DriverCosts(const ChurnCounts& counts) : counts_(counts) {}

    double ticks_per_call(std::uint64_t api) const
    {
        const auto at = counts_.driver().find(api);
        return at == counts_.driver().end() || at->second.calls == 0
                   ? 0
                   : static_cast<double>(at->second.ticks) / static_cast<double>(at->second.calls);
    }
    // Of the entry points that free this kind of memory.
    double ticks_per_free(const LogTables& tables, format::Memory memory) const
    {
        double ticks = 0;
        double calls = 0;
        for (const auto& [api, sum] : counts_.driver()) {
            if (api >= tables.apis().size() || tables.apis()[api].effect != format::Effect::free ||
                tables.apis()[api].memory != memory)
                continue;
            ticks += static_cast<double>(sum.ticks);
            calls += static_cast<double>(sum.calls);
        }
        return calls > 0 ? ticks / calls : 0;
    }

private:
    const ChurnCounts& counts_;
};

// The sites that are worth a stack, the costliest first.
std::vector<SiteId> worth_reading(const ChurnCounts& counts, const Sites& sites)
{
    std::vector<SiteId> ids;
    for (SiteId id = 0; id < sites.all().size() && id < counts.sites().size(); ++id)
        if (is_own_memory(sites[id].memory))
            ids.push_back(id);
    const auto cost = [&](SiteId id) {
        return std::tuple(counts.sites()[id].redundant_driver, counts.sites()[id].redundant,
                          sites[id].allocations);
    };
    std::sort(ids.begin(), ids.end(),
              [&](SiteId a, SiteId b) { return cost(a) != cost(b) ? cost(a) > cost(b) : a < b; });
    return ids;
}

void add_sites(ChurnReport& report, const std::vector<SiteId>& ids, const ChurnCounts& counts,
               const Sites& sites, StackReader& stacks)
{
    std::map<std::string, std::size_t> row_of_place;
    for (std::size_t at = 0; at < ids.size() && at < kMostReadStacks; ++at) {
        const Site& site = sites[ids[at]];
        CallPlace place = stacks.read(site.api, site.stack, site.first_ticks);
        const auto [row, added] = row_of_place.try_emplace(place.key(), report.sites.size());
        if (added) {
            ChurnSite fresh;
            static_cast<CallPlace&>(fresh) = std::move(place);
            fresh.device = site.device;
            fresh.memory = site.memory;
            report.sites.push_back(std::move(fresh));
        } else {
            report.sites[row->second].merge(place);
        }
        ChurnSite& sum = report.sites[row->second];
        sum.device = sum.device == site.device ? sum.device : -1;
        add_site(sum, site, counts.sites()[ids[at]]);
    }
    std::stable_sort(report.sites.begin(), report.sites.end(), costs_more);
    report.more_sites = ids.size() - std::min(ids.size(), kMostReadStacks);
    if (report.sites.size() > kMostChurnSites) {
        report.more_sites += report.sites.size() - kMostChurnSites;
        report.sites.resize(kMostChurnSites);
    }
}

} // namespace

ChurnReport describe_churn(const ChurnCounts& counts, const Sites& sites, const LogTables& tables,
                           const TickClock& clock, StackReader& stacks)
{
    ChurnReport report;
    report.add(counts.sum());
    add_driver(report, counts, tables, clock);
    add_histograms(report, counts);
    const std::vector<SiteId> ids = worth_reading(counts, sites);
    const DriverCosts costs(counts);
    double ticks = 0;
    for (const SiteId id : ids) {
        const Site& site = sites[id];
        report.allocations += site.allocations;
        report.frees += site.frees;
        report.allocated_bytes += site.allocated_bytes;
        if (const std::uint64_t pairs = counts.sites()[id].redundant_driver; pairs > 0)
            ticks += static_cast<double>(pairs) *
                     (costs.ticks_per_call(site.api) + costs.ticks_per_free(tables, site.memory));
    }
    report.redundant_ns =
        duration_ns(clock, clock.start_ticks(), static_cast<std::uint64_t>(std::min(ticks, 1e18)));
    add_sites(report, ids, counts, sites, stacks);
    return report;
}

} // namespace vramscope::report
