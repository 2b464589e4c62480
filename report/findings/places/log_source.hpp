// report/findings/places/log_source.hpp — what one process's log says, for the makers of rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "report/findings/places/stack_reader.hpp"
#include "report/log/log_tables.hpp"
#include "report/log/tick_clock.hpp"
#include "report/model/process_end.hpp"

namespace vramscope::report {

// What one process's log says.
struct LeakSource {
    const LogTables& tables;
    const TickClock& clock;
    const ProcessEnd& end;
    std::uint64_t duration_ns;
    std::size_t process;
    StackReader& stacks;
};

// One process's log.
struct CallSource {
    const TickClock& clock;
    StackReader& stacks;
    std::size_t process;
};

} // namespace vramscope::report
