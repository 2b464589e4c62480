// report/replay/replays.hpp — what one reading of a log feeds, beside the pool's replay.
//
// Feed it every batch of a ReadAhead, in order; then finish heap. `segments`: the pool as the
// reader has it, see ReadAhead::segments().
#pragma once

#include <cstdint>
#include <span>

#include "report/replay/churn.hpp"
#include "report/replay/damage.hpp"
#include "report/replay/growth.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/lookup/prefetch.hpp"
#include "report/replay/marks.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/peak.hpp"
#include "report/replay/read_ahead.hpp"
#include "report/replay/shortages.hpp"
#include "report/replay/steps.hpp"

namespace vramscope::report {

struct Replays {
    HeapReplay heap;
    DeviceMemory memory;
    PeakHolders holders;
    GrowthSeries growth{heap.sites()};
    Steps steps{heap.phases()};
    Shortages shortages;
    Marks marks;
    Damages damages;
    ChurnCounts churn;
    EachWatch<DeviceMemory, PeakHolders, GrowthSeries, ChurnCounts, Shortages> watches{
        memory, holders, growth, churn, shortages};

    Replays(LogTables& tables, std::uint64_t exit_began_ticks, const TickClock& clock)
        : heap(tables, exit_began_ticks), memory(tables, heap.sites()), holders(heap, memory),
          shortages(tables), churn(clock)
    {
        heap.watch(watches);
    }
    Replays(const Replays&) = delete;
    Replays& operator=(const Replays&) = delete;

    void apply(const RecordBatch& batch, const SegmentReplay& segments)
    {
        const std::span<const Record> records = batch.records();
        std::span<const PoolChange> changes = batch.pool_changes();
        for (std::size_t at = 0; at < records.size(); ++at) {
            prefetch_ahead(records, at, LiveBlocks::kPrefetchSteps,
                           [this](std::span<const Record> soon) { heap.prefetch(soon); });
            std::size_t own = 0;
            while (own < changes.size() && changes[own].record == at)
                ++own;
            apply(records[at], changes.first(own), segments);
            changes = changes.subspan(own);
        }
    }

private:
    void apply(const Record& record, std::span<const PoolChange> changes,
               const SegmentReplay& segments)
    {
        const bool hot = is_hot(record.tag);
        holders.before(record);
        if (!hot)
            steps.before(record);
        churn.note(record);
        heap.apply(record);
        memory.apply(record, changes);
        if (hot)
            return; // what is behind this looks for other records
        holders.after(record);
        shortages.apply(record, heap, segments, memory);
        steps.after(record);
        marks.apply(record);
        damages.note(record);
    }
};

} // namespace vramscope::report
