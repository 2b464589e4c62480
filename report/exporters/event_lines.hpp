// report/exporters/event_lines.hpp — one JSON line for each record that has one of its own.
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
    // Lines go to the end of `out`, after the definitions that they need.
    EventLines(const LogTables& tables, const TickClock& clock, EventDefinitions& definitions,
               std::string& out)
        : tables_(tables), clock_(clock), definitions_(definitions), out_(out)
    {
    }

    void write(const Record& record);
    std::uint64_t malformed() const noexcept { return malformed_; }

private:
    void write_alloc(const Record& record);
    void write_free(const Record& record);
    template <typename R>
    void write_fields(const Record& record);

    JsonLine begin(const Record& record, std::string_view type);
    JsonLine begin_call(const Record& record, std::string_view type);
    template <typename Field>
    void use(const Field& field, std::uint64_t ticks);
    template <typename Field>
    void add(JsonLine& line, std::string_view key, const Field& field) const;
    format::Memory memory_of(const Record& record) const;

    const LogTables& tables_;
    const TickClock& clock_;
    EventDefinitions& definitions_;
    std::string& out_;
    Pools pools_;
    std::uint64_t malformed_ = 0;
};

} // namespace vramscope::report
