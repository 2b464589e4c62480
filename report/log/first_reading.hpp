// report/log/first_reading.hpp — a first reading of a log, for what its events name by number.
//
// For exports that write names while they read: a stack's modules may be written down only after
// its first use.
#pragma once

#include <cstdint>
#include <functional>

#include "report/log/log_tables.hpp"
#include "report/log/tick_clock.hpp"

namespace vramscope::report {

struct Definitions {
    LogTables tables;
    TickClock clock;
    // What a running program writes later has no definitions here: the next reading should
    // hold_back() to this.
    std::uint64_t last_ticks = 0;
};

Definitions read_definitions(const LogFile& file, const std::function<void(double)>& progress);

} // namespace vramscope::report
