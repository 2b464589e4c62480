// report/replay/replays.hpp — what one reading of a log feeds, beside the pool's replay.
//
// Feed it every batch of a Reading, in order; then finish it. `segments`: the pool as the Reading
// has it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

#include "report/replay/churn.hpp"
#include "report/replay/context_losses.hpp"
#include "report/replay/contexts.hpp"
#include "report/replay/damage.hpp"
#include "report/replay/growth.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/marks.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/peak.hpp"
#include "report/replay/reading/read_ahead.hpp"
#include "report/replay/searches.hpp"
#include "report/replay/shortages.hpp"
#include "report/replay/site_peaks.hpp"
#include "report/replay/span_peaks.hpp"
#include "report/replay/steps.hpp"
#include "report/replay/tests.hpp"

namespace vramscope::report {

struct Replays {
    HeapReplay heap;
    DeviceMemory memory;
    PeakHolders holders;
    GrowthSeries growth;
    Steps steps{heap.phases()};
    Shortages shortages;
    Marks marks;
    Contexts contexts;
    Searches searches;
    Damages damages;
    ChurnCounts churn;
    Tests tests{memory};
    ContextLosses context_losses;
    EachWatch<DeviceMemory, PeakHolders, GrowthSeries, ChurnCounts, Shortages, Tests, ContextLosses>
        watches{memory, holders, growth, churn, shortages, tests, context_losses};
    // Empty, unless they are wanted.
    SpanPeaks span_peaks;
    SitePeaks site_peaks{heap.sites()};

    struct Wanted {
        bool span_peaks = false;
        bool site_peaks = false;
    };
    Replays(LogTables& tables, const format::FileHeader& header, const TickClock& clock,
            std::uint64_t until_ticks, const Wanted& wanted);
    Replays(const Replays&) = delete;
    Replays& operator=(const Replays&) = delete;

    // Flat, without what is rare: what is done for each event is in one loop.
    [[gnu::flatten]] void apply(const RecordBatch& batch, const SegmentReplay& segments);
    void finish(); // behind the last batch
    bool wants_site_peaks() const noexcept { return with_site_peaks_.has_value(); }

    // See report/checkpoint: between two batches. Of what shows spans there is nothing.
    auto state() noexcept
    {
        return std::tie(heap, memory, holders, growth, steps, shortages, marks, contexts, searches,
                        damages, churn, tests, context_losses, site_peaks);
    }
    bool rebuild() const; // whether what names sites names those of `heap`

private:
    // Those before, and one more.
    std::optional<EachWatch<BlockWatch, SpanPeaks>> with_span_peaks_;
    std::optional<EachWatch<BlockWatch, SitePeaks>> with_site_peaks_;

    [[gnu::noinline]] void after_rare(const Record& record, const SegmentReplay& segments);
};

} // namespace vramscope::report
