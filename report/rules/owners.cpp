// report/rules/owners.cpp — each site has one owner.
#include "report/rules/owners.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace vramscope::report {

std::string_view owner_of(const std::vector<Owner>& owners, CallFacts& facts, const BlockCall& call)
{
    for (const Owner& owner : owners)
        if (std::ranges::any_of(owner.any_of,
                                [&](const Condition& one) { return facts.meets(one, call); }))
            return owner.name;
    return kOtherOwner;
}

std::vector<OwnerSums> sum_up_owners(const std::vector<Owner>& owners, const Sites& sites,
                                     const std::vector<std::uint64_t>& at_peak, StackReader& stacks,
                                     std::size_t process)
{
    CallFacts facts(stacks);
    std::map<std::pair<std::int32_t, std::string_view>, OwnerSums> sums;
    for (SiteId id = 0; id < sites.all().size(); ++id) {
        const Site& site = sites[id];
        if (!is_own_memory(site.memory))
            continue;
        const bool host = class_of(site.memory) == format::MemoryClass::host;
        const std::int32_t device = host ? -1 : site.device;
        const std::string_view name = owner_of(
            owners, facts, {site.stack, site.api, site.first_ticks, site.device, site.memory});
        OwnerSums& sum = sums[{device, name}];
        sum.allocations += site.allocations;
        sum.allocated_bytes += site.allocated_bytes;
        sum.at_peak_bytes += host ? 0 : at_peak[id];
        sum.live_bytes += site.live_bytes;
        sum.live_blocks += site.live_blocks;
    }
    std::vector<OwnerSums> rows;
    for (auto& [key, sum] : sums) {
        sum.owner = key.second;
        sum.device = key.first;
        sum.process = process;
        rows.push_back(std::move(sum));
    }
    const auto rank = [&](const OwnerSums& row) { // the host comes last
        return std::pair(row.device < 0 ? INT32_MAX : row.device,
                         std::ranges::find(owners, row.owner, &Owner::name) - owners.begin());
    };
    std::ranges::sort(rows, {}, rank);
    return rows;
}

} // namespace vramscope::report
