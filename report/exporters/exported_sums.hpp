// report/exporters/exported_sums.hpp — sums of each site, for exports of stacks without events.
//
// In use is what was never freed, whatever became of its context: as the report counts leaks. A
// collected log has these sums too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report/checkpoint/log_replay.hpp"
#include "report/exporters/exported_memory.hpp"

namespace vramscope::report {

struct SiteUse {
    const Site& site;
    std::uint64_t never_freed_bytes = 0;
    std::uint64_t never_freed_blocks = 0;
};

class ExportedSums {
public:
    explicit ExportedSums(const LogFile& file); // which outlives it; it may be collected

    void read(const std::function<void(double)>& progress);

    // After read().
    const LogTables& tables() const noexcept { return log_->reading.tables(); }
    const HeapReplay& heap() const noexcept { return log_->replays.heap; }
    std::uint64_t duration_ns() const
    {
        return log_->reading.clock().ns(heap().counts().last_ticks);
    }
    std::vector<std::string> doubts() const { return doubts_about(log_->reading); }
    // Those sites whose memory the export is about.
    template <typename Visit>
    void for_each_wanted(const ExportOptions& options, Visit visit) const
    {
        const Sites& sites = heap().sites();
        for (SiteId number = 0; number < sites.all().size(); ++number) {
            const Site& site = sites[number];
            if (!is_wanted(site.memory, site.device, options))
                continue;
            const SiteLoss died = log_->replays.context_losses.of(number);
            visit(SiteUse{site, site.live_bytes + died.bytes, site.live_blocks + died.blocks});
        }
    }

private:
    const std::unique_ptr<LogReplay> log_;
};

} // namespace vramscope::report
