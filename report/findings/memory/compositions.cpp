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
            stacks_.push_back({std::move(place), site.memory});
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
                         .parts = {}};
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

    std::vector<ComposingStack> take() { return std::move(stacks_); }

private:
    const Sites& sites_;
    const LeakSource& log_;
    std::map<std::string, std::size_t> numbers_; // by what a reader sees
    std::unordered_map<SiteId, std::size_t> of_site_;
    std::vector<ComposingStack> stacks_;
};

} // namespace

Compositions find_compositions(const std::vector<SpanPeak>& spans, const Sites& sites,
                               const LeakSource& log)
{
    StackTable table(sites, log);
    for (const SiteShare& site : largest_sites(spans))
        table.add(site.site);
    Compositions compositions;
    for (const SpanPeak& span : spans)
        compositions.moments.push_back(table.composition_of(span));
    compositions.stacks = table.take();
    return compositions;
}

} // namespace vramscope::report
