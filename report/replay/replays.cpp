// report/replay/replays.cpp — compiled with what it calls: each event goes through here.
#include "report/replay/replays.hpp"

#include "report/replay/reading/reading.hpp"

namespace vramscope::report {

Replays::Replays(LogTables& tables, const format::FileHeader& header, const TickClock& clock,
                 std::uint64_t until_ticks, const Wanted& wanted)
    : heap(tables, header.exit_began_ticks), memory(tables, heap.sites()), holders(heap, memory),
      growth(heap.sites(), WorkEnd(header, clock, until_ticks)), shortages(tables), churn(clock),
      span_peaks(heap.sites(), memory, clock)
{
    BlockWatch* all = &watches;
    if (wanted.span_peaks)
        all = &with_span_peaks_.emplace(*all, span_peaks);
    if (wanted.site_peaks)
        all = &with_site_peaks_.emplace(*all, site_peaks);
    heap.watch(*all);
}

void Replays::finish()
{
    heap.finish();
    tests.finish(heap.counts().last_ticks);
    span_peaks.finish(heap.counts().last_ticks);
}

void Replays::apply(const RecordBatch& batch, const SegmentReplay& segments)
{
    for_each_record(batch, heap,
                    [&](const Record& record, std::span<const PoolChange> pool_changes) {
                        const bool rare = !is_hot(record.tag);
                        if (rare) [[unlikely]]
                            steps.before(record);
                        holders.before(record);
                        churn.note(record);
                        heap.apply(record);
                        memory.apply(record, pool_changes);
                        if (rare) [[unlikely]]
                            after_rare(record, segments);
                    });
}

void Replays::after_rare(const Record& record, const SegmentReplay& segments)
{
    holders.after(record);
    shortages.apply(record, heap, segments, memory);
    steps.after(record);
    marks.apply(record);
    contexts.apply(record);
    if (searches.apply(record))
        growth.searched(record.ticks);
    else if (record.as<format::OutOfMemory>())
        growth.ran_out(record.ticks);
    damages.note(record);
    tests.apply(record);
}

bool Replays::rebuild() const
{
    const std::size_t sites = heap.sites().all().size();
    bool sound = churn.sites().size() <= sites && site_peaks.sites() <= sites &&
                 context_losses.sites() <= sites;
    for (const LoggedTest& test : tests.kept())
        for (const auto& [site, holding] : test.holdings)
            sound = sound && site < sites;
    return sound;
}

} // namespace vramscope::report
