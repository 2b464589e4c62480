// report/findings/memory/compositions.cpp — sites that a reader cannot tell apart are one stack.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "report/findings/memory/memory.hpp"

namespace vramscope::report {
namespace {

// Those that had the most at any moment, with that as their bytes; the largest first.
std::vector<SiteShare> largest_sites(const std::vector<SpanPeak>& spans)
{
    std::map<SiteId, SiteShare> most; // equal input, equal order
    for (const SpanPeak& span : spans) {
        for (const SiteShare& share : span.shares) {
            SiteShare& site = most.try_emplace(share.site, share).first->second;
            site.bytes = std::max(site.bytes, share.bytes);
        }
    }
    std::vector<SiteShare> sites;
    for (const auto& [id, share] : most)
        sites.push_back(share);
    std::stable_sort(sites.begin(), sites.end(),
                     [](const SiteShare& a, const SiteShare& b) { return a.bytes > b.bytes; });
    sites.resize(std::min(sites.size(), kMostComposingSites));
    return sites;
}

class StackTable {
public:
    StackTable(const Sites& sites, const LeakSource& log) : sites_(sites), log_(log) {}

    void add(SiteId id)
    {
        const Site& site = sites_[id];
        CallPlace place = log_.stacks.read(site.api, site.stack, site.first_ticks);
        const std::string key(1, static_cast<char>(site.memory));
        const auto [found, added] = numbers_.try_emplace(key + place.key(), stacks_.size());
        if (added)
            stacks_.push_back({std::move(place), site.memory, {}});
        else
            stacks_[found->second].merge(place);
        of_site_.emplace(id, found->second);
    }

    Composition composition_of(const SpanPeak& span) const
    {
        Composition made{.from_ns = log_.clock.ns(span.begin_ticks),
                         .ns = log_.clock.ns(span.ticks),
                         .bytes = span.bytes,
                         .blocks = span.blocks,
                         .parts = {},
                         .sizes = {span.sizes.begin(), span.sizes.end()},
                         .lifetimes = {span.lifetimes.begin(), span.lifetimes.end()}};
        std::map<std::size_t, Composition::Part> parts;
        for (const SiteShare& share : span.shares) {
            const auto known = of_site_.find(share.site);
            if (known == of_site_.end())
                continue;
            Composition::Part& part = parts[known->second];
            part.stack = known->second;
            part.bytes += share.bytes;
            part.blocks += share.blocks;
        }
        for (const auto& [stack, part] : parts)
            made.parts.push_back(part);
        std::stable_sort(made.parts.begin(), made.parts.end(),
                         [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
        return made;
    }

    // The lives of all blocks are those of its stacks, and others.
    std::vector<SpanLife> add_lives(const std::map<SiteId, std::vector<SpanLife>>& of_sites)
    {
        std::vector<LifeSums> of_stacks(stacks_.size());
        LifeSums all;
        for (const auto& [site, lives] : of_sites) {
            add_to(all, lives);
            if (const auto known = of_site_.find(site); known != of_site_.end())
                add_to(of_stacks[known->second], lives);
        }
        for (std::size_t at = 0; at < stacks_.size(); ++at)
            stacks_[at].lives = list_of(of_stacks[at]);
        return list_of(all);
    }

    std::vector<ComposingStack> take() { return std::move(stacks_); }

private:
    using LifeSums = std::map<std::pair<std::uint32_t, std::uint32_t>, SpanLife>; // left, born

    static void add_to(LifeSums& sums, const std::vector<SpanLife>& lives)
    {
        for (const SpanLife& life : lives) {
            const auto [sum, added] = sums.try_emplace({life.left, life.born}, life);
            if (!added)
                sum->second.join(life);
        }
    }
    static std::vector<SpanLife> list_of(const LifeSums& sums)
    {
        std::vector<SpanLife> list;
        for (const auto& [spans, sum] : sums)
            list.push_back(sum);
        return list;
    }

    const Sites& sites_;
    const LeakSource& log_;
    std::map<std::string, std::size_t> numbers_; // by what a reader sees
    std::unordered_map<SiteId, std::size_t> of_site_;
    std::vector<ComposingStack> stacks_;
};

} // namespace

Compositions find_compositions(const SpanPeaks& peaks, std::size_t place, const Sites& sites,
                               const LeakSource& log)
{
    const std::vector<SpanPeak> spans = peaks.of(place);
    StackTable table(sites, log);
    for (const SiteShare& site : largest_sites(spans))
        table.add(site.site);
    Compositions compositions;
    if (peaks.begun())
        compositions.since_ns = log.clock.ns(*peaks.begun());
    for (const SpanPeak& span : spans)
        compositions.moments.push_back(table.composition_of(span));
    compositions.lives = table.add_lives(peaks.lives_of(place));
    compositions.stacks = table.take();
    return compositions;
}

} // namespace vramscope::report
