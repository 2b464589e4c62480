// report/exporters/event_lines.hpp — one JSON line for each record that is no definition.
//
// A record whose body ends early is counted, and not written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/exporters/event_definitions.hpp"
#include "report/exporters/json_line.hpp"
#include "report/log/mempools.hpp"

namespace vramscope::report {

class EventLines {
public:
    // Lines go to the end of `out`, behind the definitions that they need.
    EventLines(const LogTables& tables, const TickClock& clock, EventDefinitions& definitions,
               std::string& out)
        : tables_(tables), clock_(clock), definitions_(definitions), out_(out)
    {
    }

    void write(const Record& record);
    std::uint64_t malformed() const noexcept { return malformed_; }

private:
    // Each of these writes the fields behind ns, thread and api; the stack, which comes last, where
    // the record has one.
    void write_alloc(const Record& record);
    void write_free(const Record& record);
    void write_failed(const Record& record);
    void write_map(const Record& record);
    void write_shared(const Record& record);
    void write_trim(const Record& record);
    void write_segment(const Record& record);
    void write_reusable(const Record& record);
    void write_retried(const Record& record);
    void write_out_of_memory(const Record& record);
    void write_damaged(const Record& record);
    void write_device_memory(const Record& record);
    void write_driver_time(const Record& record);
    void write_pool();
    void write_small(const Record& record);

    JsonLine begin(const Record& record, std::string_view type);
    std::uint64_t read_stack(const Record& record);
    JsonLine begin_call(const Record& record, std::string_view type);
    format::Memory memory_of(const Record& record) const;

    const LogTables& tables_;
    const TickClock& clock_;
    EventDefinitions& definitions_;
    std::string& out_;
    format::Cursor body_{nullptr, nullptr}; // of the record at hand
    std::size_t line_begin_ = 0;            // in out_
    Pools pools_;
    std::uint64_t malformed_ = 0;
};

} // namespace vramscope::report
