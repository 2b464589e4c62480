// tests/support/step_reading.hpp — the steps of a log, and what it has of work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "report/log/log_file.hpp"
#include "report/log/log_reader.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/steps.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::test {

struct StepReading {
    report::LogTables tables;
    report::HeapReplay heap{tables, 0};
    report::Steps steps{heap.phases()};
    report::StepCounter allocations;
    std::uint64_t first = UINT64_MAX; // ticks
    std::uint64_t last = 0;

    explicit StepReading(const LogBuilder& log)
    {
        const TempFile bytes(log.build());
        const report::LogFile file = report::LogFile::open(bytes.path());
        report::LogReader reader(file);
        while (const report::Record* const record = reader.next()) {
            steps.before(*record);
            heap.apply(*record);
            steps.after(*record);
            if (record->tag == format::Tag::alloc)
                allocations.add(record->ticks);
            if (record->timed) {
                first = std::min(first, record->ticks);
                last = std::max(last, record->ticks);
            }
        }
    }
};

} // namespace vramscope::test
