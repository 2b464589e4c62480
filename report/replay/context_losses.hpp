// report/replay/context_losses.hpp — what each site lost with its contexts. A watch of HeapReplay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "report/replay/heap/block_watch.hpp"

namespace vramscope::report {

class ContextLosses final : public BlockWatch {
public:
    SiteLoss of(SiteId site) const noexcept
    {
        return site < losses_.size() ? losses_[site] : SiteLoss{.site = site};
    }
    std::size_t sites() const noexcept { return losses_.size(); } // that it knows

    void prefetch(SiteId) const override {}
    void born(const Block&) override {}
    void freed(const Block&, std::uint64_t) override {}
    void gone(const Block&, std::uint64_t) override {}
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t) override
    {
        for (const SiteLoss& loss : losses) {
            losses_.resize(std::max<std::size_t>(losses_.size(), loss.site + std::size_t{1}));
            losses_[loss.site].bytes += loss.bytes;
            losses_[loss.site].blocks += loss.blocks;
        }
    }

    auto state() noexcept { return std::tie(losses_); } // see report/checkpoint

private:
    std::vector<SiteLoss> losses_; // indexed by SiteId
};

} // namespace vramscope::report
