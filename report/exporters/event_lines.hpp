// report/exporters/event_lines.hpp — one JSON line for each record that has one of its own.
//
// A record whose body ends early is counted, and not written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/exporters/event_definitions.hpp"
#include "report/log/mempools.hpp"

namespace vramscope::report {

struct Called;

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
    void write_reusable(const Record& record);
    template <typename R>
    void write_fields(const Record& record);

    Called called(const Record& record) const;
    template <typename R>
    std::optional<R> fields_of(const Record& record); // none: counted as malformed
    template <typename Field>
    void use(const Field& field, std::uint64_t ticks);
    format::Memory memory_of(const Record& record) const;

    const LogTables& tables_;
    const TickClock& clock_;
    EventDefinitions& definitions_;
    std::string& out_;
    Pools pools_;
    std::uint64_t malformed_ = 0;
};

} // namespace vramscope::report
