// report/findings/memory/holders.cpp — sites become rows, and the waterfall tells what is left.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "report/findings/memory/memory.hpp"

namespace vramscope::report {
namespace {

// Stacks of smaller ones are not read.
constexpr std::size_t kMostReadShares = 1000;

class HolderTable {
public:
    void add(MemoryHolder holder)
    {
        if (holder.bytes == 0 && holder.blocks == 0)
            return;
        MemoryHolder& row =
            rows_.try_emplace({holder.kind, holder.name, holder.library}).first->second;
        holder.bytes += row.bytes;
        holder.blocks += row.blocks;
        row = std::move(holder);
    }

    std::vector<MemoryHolder> take()
    {
        std::vector<MemoryHolder> sorted;
        for (auto& [key, row] : rows_)
            sorted.push_back(std::move(row));
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const MemoryHolder& a, const MemoryHolder& b) {
                             return std::tie(a.kind, b.bytes) < std::tie(b.kind, a.bytes);
                         });
        std::vector<MemoryHolder> holders;
        std::size_t of_kind = 0;
        for (MemoryHolder& row : sorted) {
            of_kind = holders.empty() || holders.back().kind != row.kind ? 1 : of_kind + 1;
            if (of_kind <= kMostHolders) {
                holders.push_back(std::move(row));
                continue;
            }
            MemoryHolder& others = holders.back();
            others.name = kOtherParts;
            others.library.clear();
            others.bytes += row.bytes;
            others.blocks += row.blocks;
        }
        return holders;
    }

private:
    std::map<std::tuple<HolderKind, std::string, std::string>, MemoryHolder> rows_;
};

MemoryHolder holder_of(const Site& site, bool read, const LeakSource& log)
{
    const CallPlace place =
        read ? log.stacks.read(site.api, site.stack, site.first_ticks) : CallPlace{};
    if (site.memory == format::Memory::suballocated)
        return {HolderKind::blocks, log.tables.apis()[site.api].name, place.library, 0, 0};
    if (!read)
        return {HolderKind::module, kOtherParts, "", 0, 0};
    if (place.module.empty())
        return {};
    return {HolderKind::module, place.module, place.library, 0, 0};
}

} // namespace

std::vector<SiteShare> live_shares(const Sites& sites, std::int32_t device)
{
    std::vector<SiteShare> shares;
    for (SiteId at = 0; at < sites.all().size(); ++at) {
        const Site& site = sites[at];
        if (site.live_blocks > 0 && site.device == device &&
            class_of(site.memory) == format::MemoryClass::device)
            shares.push_back({at, site.live_bytes, site.live_blocks});
    }
    return shares;
}

std::vector<MemoryHolder> find_holders(std::vector<SiteShare> shares, const Waterfall& parts,
                                       const std::string& cache, const HeapReplay& heap,
                                       const LeakSource& log)
{
    std::stable_sort(shares.begin(), shares.end(),
                     [](const SiteShare& a, const SiteShare& b) { return a.bytes > b.bytes; });
    HolderTable table;
    std::uint64_t told = 0;
    for (std::size_t at = 0; at < shares.size(); ++at) {
        MemoryHolder holder = holder_of(heap.sites()[shares[at].site], at < kMostReadShares, log);
        holder.bytes = shares[at].bytes;
        holder.blocks = shares[at].blocks;
        told += holder.bytes;
        table.add(std::move(holder));
    }
    const std::uint64_t of_pool = parts.releasable + parts.stuck + parts.pending + parts.internal;
    table.add({HolderKind::cache, cache, "", parts.kept, 0});
    table.add({HolderKind::pool, "", "", of_pool, 0});
    table.add({HolderKind::contexts, "", "", parts.contexts, 0});
    table.add({HolderKind::objects, "", "", parts.objects, 0});
    table.add(
        {HolderKind::unattributed, "", "", parts.unattributed - parts.contexts - parts.objects, 0});
    table.add({HolderKind::unknown, "", "", parts.requested - std::min(told, parts.requested), 0});
    return table.take();
}

} // namespace vramscope::report
