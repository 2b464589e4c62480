// tests/report/replay/heap/heap_scene.hpp — a log, and what HeapReplay makes of all of it.
#pragma once

#include <vector>

#include "report/log/log_reader.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {

struct Replayed {
    ReplayCounts counts;
    std::vector<LostBlocks> lost; // by stack
    std::vector<BlockInFlight> in_flight;

    std::uint64_t lost_bytes() const
    {
        std::uint64_t sum = 0;
        for (const LostBlocks& blocks : lost)
            sum += blocks.bytes;
        return sum;
    }
};

inline Replayed replay(const test::LogBuilder& log)
{
    const test::TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    LogTables tables([&](LogTables& defined) {
        reader.scan(format::Tag::api, [&](const Record& record) { defined.define(record); });
    });
    HeapReplay heap(tables, opened.header().exit_began_ticks);
    heap.expect(reader.pending_frees());
    while (const Record* const record = reader.next())
        heap.apply(*record);
    heap.finish();
    return {heap.counts(), heap.lost(), heap.in_flight()};
}

} // namespace vramscope::report
