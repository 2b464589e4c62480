// report/plan/holders.cpp — blocks that are alive at one request, summed up by what a reader sees.
#include "report/plan/holders.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace vramscope::report::plan {
namespace {

constexpr std::size_t kMostReadSites = 1000; // whose stacks are read

struct AtPeak {
    SiteId site = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

// By bytes, the largest first. The last has kNoSite: requests that failed.
std::vector<AtPeak> sites_at_peak(const TraceWatch::DeviceTrace& device)
{
    std::map<SiteId, AtPeak> sites;
    for (const StartSegment& segment : device.trace.at_start) {
        for (const StartBlock& block : segment.blocks) {
            AtPeak& site = sites[device.trace.sites[block.block]];
            site.site = device.trace.sites[block.block];
            site.bytes += block.bytes;
            ++site.blocks;
        }
    }
    const std::vector<Request>& requests = device.trace.requests;
    const std::size_t end = std::min(device.facts.peak_request + 1, requests.size());
    for (const Request& request : std::span(requests).first(end)) {
        const bool born = request.action == Action::allocate;
        if (!born && !gives_back(request.action))
            continue;
        AtPeak& site = sites[device.trace.sites[request.block]];
        site.site = device.trace.sites[request.block];
        site.bytes += born ? request.bytes : 0 - request.bytes;
        site.blocks += born ? 1 : std::uint64_t{0} - 1;
    }
    std::vector<AtPeak> found;
    for (const auto& [site, sum] : sites) {
        if (sum.blocks > 0)
            found.push_back(sum);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const AtPeak& a, const AtPeak& b) { return a.bytes > b.bytes; });
    return found;
}

} // namespace

void add_holders(PlanDevice& to, const TraceWatch::DeviceTrace& device, Places& places)
{
    std::map<std::string, PlanHolder> rows;
    std::size_t read = 0;
    for (const AtPeak& site : sites_at_peak(device)) {
        if (++read > kMostReadSites) {
            ++to.more_holders;
            to.more_bytes += site.bytes;
            continue;
        }
        PlanHolder holder;
        if (site.site != TraceWatch::kNoSite) {
            static_cast<CallPlace&>(holder) = places.of_site(site.site);
            holder.phase = places.phase_of(site.site);
        } else {
            static_cast<CallPlace&>(holder) =
                places.of_block(device, device.trace.requests[device.facts.peak_request].block);
        }
        const auto [found, added] =
            rows.try_emplace(holder.phase + '\0' + holder.key(), std::move(holder));
        found->second.bytes += site.bytes;
        found->second.blocks += site.blocks;
    }
    for (auto& [key, row] : rows)
        to.holders.push_back(std::move(row));
    std::stable_sort(to.holders.begin(), to.holders.end(),
                     [](const PlanHolder& a, const PlanHolder& b) { return a.bytes > b.bytes; });
    while (to.holders.size() > kMostHolders) {
        ++to.more_holders;
        to.more_bytes += to.holders.back().bytes;
        to.holders.pop_back();
    }
}

} // namespace vramscope::report::plan
