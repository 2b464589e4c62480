// report/replay/replays.hpp — what one reading of a log feeds, beside the pool's replay.
//
// Feed it every batch of a Reading, in order; then finish it. `segments`: the pool as the Reading
// has it.
#pragma once

#include <cstdint>
#include <span>

#include "report/replay/churn.hpp"
#include "report/replay/damage.hpp"
#include "report/replay/growth.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/marks.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/peak.hpp"
#include "report/replay/reading/read_ahead.hpp"
#include "report/replay/shortages.hpp"
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
    Damages damages;
    ChurnCounts churn;
    Tests tests{memory};
    EachWatch<DeviceMemory, PeakHolders, GrowthSeries, ChurnCounts, Shortages, Tests> watches{
        memory, holders, growth, churn, shortages, tests};
    SpanPeaks span_peaks{heap.sites(), memory}; // empty, unless they are wanted
    EachWatch<BlockWatch, SpanPeaks> watches_and_span_peaks{watches, span_peaks};

    struct Wanted {
        bool span_peaks = false;
    };
    Replays(LogTables& tables, const format::FileHeader& header, const TickClock& clock,
            const Wanted& wanted);
    Replays(const Replays&) = delete;
    Replays& operator=(const Replays&) = delete;

    // Flat, without what is rare: what is done for each event is in one loop.
    [[gnu::flatten]] void apply(const RecordBatch& batch, const SegmentReplay& segments);
    void finish(); // behind the last batch

private:
    [[gnu::noinline]] void after_rare(const Record& record, const SegmentReplay& segments);
};

} // namespace vramscope::report
