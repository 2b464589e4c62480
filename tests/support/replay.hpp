// tests/support/replay.hpp — a log, read record by record as a report reads it.
#pragma once

#include <vector>

#include "report/log/log_reader.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/pool/segment_replay.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::test {

struct Replayed {
    Replayed() { heap.watch(memory); }
    Replayed(const Replayed&) = delete;
    Replayed& operator=(const Replayed&) = delete;

    report::LogTables tables;
    report::HeapReplay heap{tables, 0};
    report::SegmentReplay segments{tables};
    report::DeviceMemory memory{tables, heap.sites()};
};

// Calls `after` after every record, with what was replayed up to there.
template <typename After>
void replay(const LogBuilder& log, After after)
{
    const TempFile bytes(log.build());
    const report::LogFile file = report::LogFile::open(bytes.path());
    report::LogReader reader(file);
    Replayed replayed;
    std::vector<report::PoolChange> changes;
    while (const report::Record* const record = reader.next()) {
        replayed.heap.apply(*record);
        replayed.segments.apply(*record);
        changes.clear();
        replayed.segments.take_changes(0, changes);
        replayed.memory.apply(*record, changes);
        after(*record, replayed);
    }
}

} // namespace vramscope::test
