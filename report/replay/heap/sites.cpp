// report/replay/heap/sites.cpp — the site of each allocation is looked up by its stack first.
#include "report/replay/heap/sites.hpp"

#include <algorithm>

namespace vramscope::report {

// Seeded, so that a crafted log cannot make all sites collide.
std::uint64_t Sites::hash(const SiteKey& key) const noexcept
{
    std::uint64_t hash = seed_;
    const auto mix = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    };
    mix(key.stack);
    mix(std::uint64_t{key.phase} << 32 | key.context);
    mix(std::uint64_t{static_cast<std::uint16_t>(key.device)} << 32 | std::uint64_t{key.api} << 8 |
        static_cast<std::uint8_t>(key.memory));
    return hash;
}

void Sites::place(Block& block, PhaseKind phase)
{
    const SiteKey key{.stack = block.stack,
                      .phase = phase,
                      .context = block.context,
                      .device = block.device,
                      .api = block.api,
                      .memory = block.memory};
    SiteId& recent = recent_[block.stack % recent_.size()];
    if (sites_.empty() || sites_[recent] != key) {
        recent = find_or_add(key, block.ticks);
        block.stack = sites_[recent].stack;
    }
    block.site = recent;
}

SiteId Sites::find_or_add(const SiteKey& key, std::uint64_t ticks)
{
    const FlatMap<SiteId>::Entry* const first = by_hash_.find(hash(key));
    for (SiteId at = first ? first->value : kNone; at != kNone; at = next_of_hash_[at]) {
        if (sites_[at] == key)
            return at;
    }
    if (sites_.size() >= kMostSites && key.stack != kOtherStacks) {
        SiteKey others = key;
        others.stack = kOtherStacks;
        others.phase = 0;
        return find_or_add(others, ticks);
    }
    const auto added = static_cast<SiteId>(sites_.size());
    sites_.push_back({key, {}});
    sites_.back().first_ticks = ticks;
    list(added);
    return added;
}

// The next one in the tables beside sites_, so that it is found.
void Sites::list(SiteId site)
{
    const std::uint64_t hashed = hash(sites_[site]);
    FlatMap<SiteId>::Entry* const first = by_hash_.find(hashed);
    next_of_hash_.push_back(first ? first->value : kNone);
    listed_.push_back(false);
    if (first)
        first->value = site;
    else
        by_hash_.insert(hashed, site);
}

bool Sites::rebuild()
{
    for (SiteId site = 0; site < sites_.size(); ++site)
        list(site);
    for (const std::vector<SiteId>& mortal : mortal_of_context_) {
        for (const SiteId site : mortal) {
            if (site >= sites_.size() || listed_[site])
                return false;
            listed_[site] = true;
        }
    }
    return true;
}

void Sites::enter(const Block& block)
{
    Site& site = sites_[block.site];
    site.live_bytes += block.bytes;
    ++site.live_blocks;
    ++site.allocations;
    site.allocated_bytes += block.bytes;
    site.last_ticks = std::max(site.last_ticks, block.ticks);
    if (!block.mortal || listed_[block.site])
        return;
    listed_[block.site] = true;
    if (block.context >= mortal_of_context_.size())
        mortal_of_context_.resize(block.context + 1);
    mortal_of_context_[block.context].push_back(block.site);
}

void Sites::leave(const Block& block)
{
    Site& site = sites_[block.site];
    site.live_bytes -= block.bytes;
    --site.live_blocks;
}

void Sites::resize(const Block& block, std::uint64_t bytes) noexcept
{
    sites_[block.site].live_bytes += bytes - block.bytes;
}

std::span<const SiteLoss> Sites::destroy(std::uint32_t context)
{
    losses_.clear();
    if (context >= mortal_of_context_.size())
        return losses_;
    for (const SiteId at : mortal_of_context_[context]) {
        Site& site = sites_[at];
        listed_[at] = false;
        if (site.live_blocks > 0)
            losses_.push_back({at, site.live_bytes, site.live_blocks});
        site.live_bytes = 0;
        site.live_blocks = 0;
    }
    mortal_of_context_[context].clear();
    return losses_;
}

} // namespace vramscope::report
