// report/replay/growth.hpp — how much of each site's memory stayed alive, over the run.
//
// A series of at most kMostFloors floors: the least that was alive in a span of time. Temporaries
// come and go above a floor, so they do not look like growth. Spans are short both beside the
// site's life and beside the number of its events: a loop is resolved whether it is a hundredth of
// the run's time or of its events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/site_vector.hpp"
#include "report/replay/heap/sites.hpp"
#include "report/replay/step_counter.hpp"
#include "report/replay/work_end.hpp"

namespace vramscope::report {

// The least that was alive in the span from the floor before up to `ticks`.
struct Floor {
    std::uint64_t ticks = 0;
    std::uint64_t bytes = 0;
    std::uint32_t blocks = 0;      // like events, no more than fit
    std::uint32_t events : 31 = 0; // births and deaths in the span
    std::uint32_t level : 1 = 0;   // no event after the span's beginning

    using Kept = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, bool>;
    Kept kept() const { return {ticks, bytes, blocks, events, level}; }
    bool restore(const Kept& kept)
    {
        const auto& [at, least, count, some, flat] = kept;
        *this = {at, least, count, some & INT32_MAX, flat};
        return true;
    }
};
inline constexpr std::size_t kMostFloors = 64;

class GrowthSeries final : public BlockWatch {
public:
    GrowthSeries(const Sites& sites, const WorkEnd& end) : sites_(sites), work_end_(end) {}

    void prefetch(SiteId site) const override { series_.prefetch(site); }
    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block& block, std::uint64_t ticks) override { freed(block, ticks); }
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

    void searched(std::uint64_t ticks) noexcept { work_end_.searched(ticks); }
    void ran_out(std::uint64_t ticks) { worked(ticks, true); }

    // In order of time, up to the end of the log. Before the first one nothing was alive.
    std::vector<Floor> floors(SiteId site, std::uint64_t end_ticks) const;
    // All blocks of the site that were ever born had one size.
    bool one_size(SiteId site) const noexcept;
    // How many blocks of the site the program had freed when it allocated the last one there.
    std::uint64_t frees_by_last(SiteId site) const noexcept;
    // In the work: births at all sites together, and requests that were refused for want of memory.
    const StepCounter& allocations() const noexcept { return allocations_; }
    const WorkEnd& work_end() const noexcept { return work_end_; }
    // What was freed behind the last allocation, in the order of sites.
    std::vector<SiteShare> freed_last() const;

    auto state() noexcept
    {
        return std::tie(series_, allocations_, work_end_);
    } // see report/checkpoint
    bool rebuild();

private:
    struct Series {
        std::uint64_t floor_bytes = 0; // since the last floor that was kept
        std::uint64_t floor_blocks = 0;
        std::uint64_t events = 0;
        std::uint64_t kept_events = 0; // the part of events that floors have
        std::uint64_t first_ticks = 0;
        std::uint64_t kept_ticks = 0; // when the last floor was kept
        // The next one is kept when there were more events since, or more time passed.
        std::uint64_t few_events = 0;
        std::uint64_t short_ticks = 0;
        std::uint64_t last_ticks = 0; // when the last event was
        std::uint64_t least_size = UINT64_MAX;
        std::uint64_t largest_size = 0;
        std::uint64_t frees_by_last = 0;
        SiteShare freed;               // without an allocation anywhere: see freed_after
        std::uint64_t freed_after = 0; // so many allocations
        std::vector<Floor> floors;
    };
    struct Live {
        std::uint64_t bytes;
        std::uint64_t blocks;
    };

    void worked(std::uint64_t ticks, bool memory); // it allocated, or tried to
    static void note(Series& series, std::uint64_t ticks, Live before, Live after);
    static void level_to(Series& series, std::uint64_t ticks, Live level, Live then);
    // Not inlined: they are large, and for a few events of many.
    [[gnu::noinline]] static void keep(Series& series, std::uint64_t ticks, Live now, bool level);
    [[gnu::noinline]] static void join_least(Series& series);

    const Sites& sites_;
    SiteVector<Series> series_;
    StepCounter allocations_;
    WorkEnd work_end_;
};

} // namespace vramscope::report
