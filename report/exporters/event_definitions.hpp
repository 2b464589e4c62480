// report/exporters/event_definitions.hpp — the lines that say what the numbers in events mean.
//
// An entry point or a stack is written before the first event that names it, and only then; threads
// and modules are written where the log has them. Stacks are symbolized when they are written.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "report/findings/places/stack_reader.hpp"
#include "report/log/log_tables.hpp"
#include "report/log/tick_clock.hpp"

namespace vramscope::report {

class EventDefinitions {
public:
    // `tables` hold the whole log's definitions; lines go to the end of `out`.
    EventDefinitions(const LogTables& tables, const TickClock& clock, Symbolizer& symbolizer,
                     std::string& out);

    void use_api(std::uint64_t id);
    void use_stack(std::uint64_t id, std::uint64_t ticks); // 0: not captured

    // True if the record is a definition, written now or when it is used.
    bool write(const Record& record);

private:
    void write_thread(std::uint32_t index, const format::Thread& thread);

    const LogTables& tables_;
    const TickClock& clock_;
    StackReader stacks_;
    std::string& out_;
    std::vector<bool> apis_written_;
    std::unordered_set<std::uint64_t> stacks_written_;
    std::vector<std::uint32_t> thread_ids_; // written so far, by index
};

} // namespace vramscope::report
