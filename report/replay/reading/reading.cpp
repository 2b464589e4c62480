// report/replay/reading/reading.cpp — what comes before the first record, and the batches.
#include "report/replay/reading/reading.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {
namespace {

LogTables::FindApis apis_of(const LogFile& file)
{
    return [&file](LogTables& defined) {
        LogReader(file).scan(format::Tag::api,
                             [&](const Record& record) { defined.define(record); });
    };
}

// It replays the driver's memory alone: of the blocks that were cut only their places matter.
SegmentBirths read_births(LogReader& reader, HeapReplay& heap, LogTables& tables)
{
    while (const Record* const record = reader.next()) {
        const Api* const api = is_hot(record->tag) ? tables.find_api(record->api) : nullptr;
        if (!api || api->memory != format::Memory::suballocated)
            heap.apply(*record);
        else if (record->tag == format::Tag::alloc)
            heap.note_cut(*record);
    }
    return heap.segment_births();
}

// The first reading of a log whose program has an allocator of its own.
SegmentBirths find_segment_births(const LogFile& file, LogTables tables)
{
    if (file.header().suballocated == 0)
        return {};
    HeapReplay heap(tables, file.header().exit_began_ticks);
    LogReader reader(file);
    return read_births(reader, heap, tables);
}

std::uint64_t end_of(const ReadingExtent& extent, const TickClock& clock)
{
    return extent.until_ns ? std::min(extent.until_ticks, clock.ticks_at(*extent.until_ns))
                           : extent.until_ticks;
}

} // namespace

Reading::Reading(const LogFile& file, const ReadingExtent& extent)
    : file_(file), reader_(file), until_ticks_(end_of(extent, reader_.clock())),
      runs_on_(extent.runs_on), follows_(extent.follows), tables_(apis_of(file))
{
    reader_.hold_back(until_ticks_);
}

bool Reading::has_segments()
{
    return !births().empty();
}

SegmentBirths& Reading::births()
{
    if (!births_)
        births_ = find_segment_births(file_, tables_);
    return *births_;
}

ReadAhead& Reading::ahead()
{
    return ahead_ ? *ahead_ : ahead_.emplace(reader_, apis_of(file_));
}

void Reading::prepare(HeapReplay& heap)
{
    heap.expect_segments(std::move(births()));
    if (!runs_on_)
        heap.expect(reader_.pending_frees());
}

void Reading::read_ahead(HeapReplay& heap, const ReadingControl& control, const ApplyBatch& apply)
{
    prepare(heap);
    ahead();
    std::uint64_t records = 0; // since the last turn
    while (const RecordBatch* const batch = ahead_->next()) {
        apply(*batch, ahead_->segments());
        fraction_read_ = batch->fraction_read();
        records += batch->records().size();
        if (records < kRecordsPerTurn)
            continue;
        records = 0;
        take_turn(control);
        if (interrupted_)
            ahead_->stop(); // what was read by then is still given
    }
}

bool Reading::go_on(std::uint64_t until_ticks, const ApplyBatch& apply,
                    const std::function<bool()>& enough)
{
    until_ticks_ = until_ticks;
    reader_.hold_back(until_ticks);
    reader_.refresh();
    std::uint64_t records = 0; // since it was asked
    while (const RecordBatch* const batch = ahead().next_here()) {
        apply(*batch, ahead().segments());
        records += batch->records().size();
        if (records >= kRecordsPerTurn && enough())
            return false;
        records %= kRecordsPerTurn;
    }
    return true;
}

SegmentBirths Reading::find_births(HeapReplay& heap, std::uint64_t until_ticks)
{
    reader_.hold_back(until_ticks);
    return read_births(reader_, heap, tables_);
}

void Reading::take_turn(const ReadingControl& control)
{
    if (control.progress)
        control.progress(fraction_read_);
    if (control.interrupted && control.interrupted())
        interrupted_ = true;
}

} // namespace vramscope::report
