// report/exporters/never_freed.hpp — sums of each site, for exports that show stacks and no events.
//
// In use is what was never freed, whatever became of its context: as the report counts leaks.
#pragma once

#include <algorithm>
#include <vector>

#include "report/exporters/exported_memory.hpp"

namespace vramscope::report {

// What died with a context was never freed all the same.
class NeverFreed : public BlockWatch {
public:
    const SiteLoss& with_context(SiteId site)
    {
        died_.resize(std::max<std::size_t>(died_.size(), site + 1));
        return died_[site];
    }

    void born(const Block&) override {}
    void freed(const Block&, std::uint64_t) override {}
    void gone(const Block&, std::uint64_t) override {}
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t) override
    {
        for (const SiteLoss& loss : losses) {
            with_context(loss.site);
            died_[loss.site].bytes += loss.bytes;
            died_[loss.site].blocks += loss.blocks;
        }
    }

private:
    std::vector<SiteLoss> died_; // indexed by SiteId
};

struct SiteUse {
    const Site& site;
    std::uint64_t never_freed_bytes = 0;
    std::uint64_t never_freed_blocks = 0;
};

// Visits the sites whose memory the export is about, once the reading is finished.
template <typename Visit>
void for_each_wanted(const Sites& sites, NeverFreed& never_freed, const ExportOptions& options,
                     Visit visit)
{
    for (SiteId number = 0; number < sites.all().size(); ++number) {
        const Site& site = sites[number];
        if (!is_wanted(site.memory, site.device, options))
            continue;
        const SiteLoss& died = never_freed.with_context(number);
        visit(SiteUse{site, site.live_bytes + died.bytes, site.live_blocks + died.blocks});
    }
}

} // namespace vramscope::report
