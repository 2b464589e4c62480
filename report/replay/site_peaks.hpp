// report/replay/site_peaks.hpp — the most that each site had at once. A watch of HeapReplay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/site_vector.hpp"

namespace vramscope::report {

class SitePeaks final : public BlockWatch {
public:
    explicit SitePeaks(const Sites& sites) : sites_(sites) {} // they outlive this

    std::uint64_t bytes(SiteId site) const noexcept
    {
        return site < peaks_.size() ? peaks_[site] : 0;
    }

    std::size_t sites() const noexcept { return peaks_.size(); } // that it knows

    void prefetch(SiteId site) const override { peaks_.prefetch(site); }
    void born(const Block& block) override
    {
        std::uint64_t& peak = peaks_.of(block.site);
        peak = std::max(peak, sites_[block.site].live_bytes);
    }
    void freed(const Block&, std::uint64_t) override {}
    void gone(const Block&, std::uint64_t) override {}
    void context_gone(std::span<const SiteLoss>, std::uint64_t) override {}

    auto state() noexcept { return std::tie(peaks_); } // see report/checkpoint

private:
    const Sites& sites_;
    SiteVector<std::uint64_t> peaks_;
};

} // namespace vramscope::report
