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
    while (const Record* const record = reader.next())
        heap.apply(*record);
    return heap.segment_births();
}

} // namespace vramscope::report
