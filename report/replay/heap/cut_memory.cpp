// report/replay/heap/cut_memory.cpp — the first reading.
#include "report/replay/heap/cut_memory.hpp"

#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

SegmentBirths find_segment_births(const LogFile& file)
{
    if (file.header().suballocated == 0)
        return {};
    LogReader reader(file);
    LogTables tables([&file](LogTables& defined) {
        LogReader(file).scan(format::Tag::api,
                             [&](const Record& record) { defined.define(record); });
    });
    HeapReplay heap(tables, file.header().exit_began_ticks);
    while (const Record* const record = reader.next()) {
        const Api* const api = is_hot(record->tag) ? tables.find_api(record->api) : nullptr;
        if (!api || api->memory != format::Memory::suballocated)
            heap.apply(*record);
        else if (record->tag == format::Tag::alloc)
            heap.note_cut(*record);
    }
    return heap.segment_births();
}

} // namespace vramscope::report
