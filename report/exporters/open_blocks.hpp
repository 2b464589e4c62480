// report/exporters/open_blocks.hpp — the blocks that were not freed yet, by site and address.
//
// For exports that tell of single blocks. What dies with its context is in no table of the replay
// any more, and was not freed: here it stays until somebody takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "report/replay/heap/block_watch.hpp"

namespace vramscope::report {

template <typename Value>
class OpenBlocks {
public:
    using OfSite = std::unordered_map<std::uint64_t, Value>; // by address or handle

    void open(const Block& block, Value value)
    {
        sites_[block.site].insert_or_assign(block.address, std::move(value));
    }

    // Nothing: it was not told of.
    std::optional<Value> close(const Block& block)
    {
        const auto site = sites_.find(block.site);
        if (site == sites_.end())
            return std::nullopt;
        auto block_of_site = site->second.extract(block.address);
        return block_of_site.empty() ? std::nullopt
                                     : std::optional(std::move(block_of_site.mapped()));
    }

    // All of a site at once; it has none then.
    OfSite close_site(SiteId site)
    {
        auto found = sites_.extract(site);
        return found.empty() ? OfSite() : std::move(found.mapped());
    }

    const std::unordered_map<SiteId, OfSite>& sites() const noexcept { return sites_; }

private:
    std::unordered_map<SiteId, OfSite> sites_;
};

} // namespace vramscope::report
