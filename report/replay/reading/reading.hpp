// report/replay/reading/reading.hpp — one reading of a log: what comes before it, its end, a stop.
//
// Whatever is made of a log begins alike. An entry point may be named before it is defined; what an
// allocator cuts is known as its segment only by a reading before this one; and frees may have been
// in flight when the program ended. Then the log is read up to a moment; how far it is, is told now
// and then; and it may be stopped. What is made of the records is the caller's: of the replays a
// Reading knows the HeapReplay alone, which it tells what is to be expected.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <tuple>

#include "report/log/log_reader.hpp"
#include "report/log/log_tables.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/lookup/prefetch.hpp"
#include "report/replay/reading/read_ahead.hpp"

namespace vramscope::report {

// How much of a log is read.
struct ReadingExtent {
    // Nothing later than either: see LogReader::hold_back().
    std::uint64_t until_ticks = UINT64_MAX;
    std::optional<std::uint64_t> until_ns = {}; // since the log was opened
    // The program goes on after what is read: frees in flight are only on their way.
    bool runs_on = false;
    // By go_on(): again and again, up to the moment that each time is told.
    bool follows = false;
};

// Both are called now and then, on the caller's thread, and may be empty.
struct ReadingControl {
    std::function<void(double fraction)> progress; // 0 to 1
    std::function<bool()> interrupted;             // true: it is read no further
};

class Reading {
public:
    using ApplyBatch = std::function<void(const RecordBatch&, const SegmentReplay& pool)>;

    explicit Reading(const LogFile& file, const ReadingExtent& extent = {}); // `file` outlives it
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    // Once, by one of these two. `heap` is told what to expect, and not yet finished after it.
    // In batches, whose pool a thread of its own has replayed; see ReadAhead for `pool`.
    void read_ahead(HeapReplay& heap, const ReadingControl& control, const ApplyBatch& apply);
    // Record by record: for what asks nothing of the pool.
    template <typename Apply>
    void read(HeapReplay& heap, const ReadingControl& control, Apply apply);

    // All that was read once more, for what the first time has shown to be needed.
    template <typename Apply>
    void read_again(Apply apply) const;

    // Of a running program, in place of those: what was published up to this moment, after
    // LogFile::refresh(), and since the last time, in batches. `enough` is asked now and then:
    // where it says so, the rest is left for the next time. Returns whether nothing is left.
    bool go_on(std::uint64_t until_ticks, const ApplyBatch& apply,
               const std::function<bool()>& enough);

    // Of one that goes on from a checkpoint, in place of all those: what the rest of the log shows
    // to be segments, for who begins there once more and is told by expect_segments(). `heap` as
    // the checkpoint has it; nobody watches it.
    SegmentBirths find_births(HeapReplay& heap, std::uint64_t until_ticks);
    void expect_segments(SegmentBirths births) { births_ = std::move(births); }

    // Whether an allocator of the program's cuts segments. The first call may read the whole log.
    bool has_segments();

    const LogFile& file() const noexcept { return file_; }
    const LogReader& reader() const noexcept { return reader_; }
    const TickClock& clock() const noexcept { return reader_.clock(); }
    LogTables& tables() noexcept { return tables_; }
    const LogTables& tables() const noexcept { return tables_; }
    const SegmentReplay& pool() const noexcept { return ahead_->segments(); } // after it was read
    // See report/checkpoint: before it is read, or after all of it was by read_ahead().
    auto state() { return std::tie(reader_, tables_, ahead()); }
    bool rebuild() noexcept
    {
        count_from_here();
        return true;
    }
    std::uint64_t until_ticks() const noexcept { return until_ticks_; } // as it was read up to
    // Whether it was known from the first on what an allocator of the program's cuts.
    bool knows_segments() const noexcept { return births_.has_value() && !late_segments_; }
    // From here on it is not: what an allocator of the program's cuts was counted as the program's
    // before.
    void finds_segments_late() noexcept { late_segments_ = true; }
    bool found_segments_late() const noexcept { return late_segments_; }
    // Since its checkpoint, or the last of these calls.
    std::size_t chunks_read() const noexcept { return reader_.chunks_read() - chunks_before_; }
    void count_from_here() noexcept { chunks_before_ = reader_.chunks_read(); }

    bool runs_on() const noexcept { return runs_on_; }
    bool follows() const noexcept { return follows_; }
    bool interrupted() const noexcept { return interrupted_; }
    double fraction_read() const noexcept { return fraction_read_; } // of what was applied

private:
    static constexpr std::uint64_t kRecordsPerTurn = 1 << 16;

    SegmentBirths& births();
    ReadAhead& ahead();
    void prepare(HeapReplay& heap);
    void take_turn(const ReadingControl& control);
    template <typename Apply>
    static void apply_all(LogReader& reader, Apply apply);

    const LogFile& file_;
    LogReader reader_;
    std::uint64_t until_ticks_;
    const bool runs_on_;
    const bool follows_;
    LogTables tables_;
    std::optional<SegmentBirths> births_; // once they are known
    bool late_segments_ = false;
    std::optional<ReadAhead> ahead_;
    std::size_t chunks_before_ = 0; // that do not count
    bool interrupted_ = false;
    double fraction_read_ = 0;
};

template <typename Apply>
void Reading::read(HeapReplay& heap, const ReadingControl& control, Apply apply)
{
    prepare(heap);
    std::uint64_t records = 0;
    while (const Record* const record = interrupted_ ? nullptr : reader_.next()) {
        apply(*record);
        if (++records % kRecordsPerTurn == 0) {
            fraction_read_ = reader_.fraction_read();
            take_turn(control);
        }
    }
}

template <typename Apply>
void Reading::read_again(Apply apply) const
{
    LogReader reader(file_);
    reader.hold_back(until_ticks_);
    apply_all(reader, apply);
}

template <typename Apply>
void Reading::apply_all(LogReader& reader, Apply apply)
{
    while (const Record* const record = reader.next())
        apply(*record);
}

// Calls `apply` with each record of a batch, in order, and with what it changed in the pool; what
// `heap` will need for those to come is fetched ahead. The function that calls this is to be flat
// if it is to be fast: then all that is done for each event is one loop.
template <typename Apply>
void for_each_record(const RecordBatch& batch, HeapReplay& heap, Apply apply)
{
    const std::span<const Record> records = batch.records();
    std::span<const PoolChange> changes = batch.pool_changes();
    for (std::size_t at = 0; at < records.size(); ++at) {
        prefetch_ahead(records, at, LiveBlocks::kPrefetchSteps,
                       [&heap](std::span<const Record> soon) { heap.prefetch(soon); });
        std::size_t own = 0;
        while (own < changes.size() && changes[own].record == at)
            ++own;
        apply(records[at], changes.first(own));
        changes = changes.subspan(own);
    }
}

} // namespace vramscope::report
