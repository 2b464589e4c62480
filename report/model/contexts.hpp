// report/model/contexts.hpp — the contexts of a process: who opened each, and what was done in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "report/model/leaks.hpp"

namespace vramscope::report {

// What a context took of its device, as far as the driver was asked.
struct ContextBytes {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};
template <>
struct Fields<ContextBytes> {
    static constexpr const char* kName = "context_bytes";
    static constexpr FieldList kAll{
        Field{"least", &ContextBytes::least,
              "0 and more: only how much of the device was in use is known, by whomever."},
        Field{"most", &ContextBytes::most},
    };
};

// A context, and the call that opened it. Of a log that does not say who, the call is empty.
struct ContextRow : TimedCall {
    std::uint64_t id = 0;     // of the log's
    std::int32_t device = -1; // -1: not known
    bool primary = false;
    std::optional<format::Opening> opening; // none: the log does not say
    ThreadLabel thread;
    std::optional<TimedCall> ended; // none: it was open to the end
    std::uint64_t allocations = 0;  // of all kinds of memory, those of host memory too
    std::uint64_t host_allocations = 0;
    std::uint64_t objects = 0;         // that were made in it
    std::uint64_t allocated_bytes = 0; // of the program's own memory
    bool is_worked_in = false;         // anything but host memory and code
    std::optional<ContextBytes> bytes;
    // Nothing but host memory was allocated in it, nor in any other context of its device, and the
    // process works on another device.
    bool stray = false;
    std::size_t process = 0; // index into Report::processes

    bool is_opened() const noexcept { return opening.has_value(); }
    bool at_all() const noexcept { return allocations > 0; }
    const TimedCall& opened() const noexcept { return *this; }
};
template <>
struct Fields<ContextRow> {
    static constexpr const char* kName = "context";
    static constexpr FieldList kAll{
        Field{"id", &ContextRow::id, "Of the log; no two contexts of a process have one."},
        Field{"device", Ordinal{&ContextRow::device}},
        Field{"primary", &ContextRow::primary, "Its device's primary context."},
        Field{"opening", &ContextRow::opening,
              "created: the call made it. retained: the call retained the primary context, which "
              "nobody had before, as far as is known. seen: the call was the first in it, and what "
              "made it was not seen. null: the log does not say."},
        Field{"opened", If{&ContextRow::is_opened, &ContextRow::opened},
              "By this call. Missing where opening is null."},
        Field{"thread", If{&ContextRow::is_opened, &ContextRow::thread}, "That opened it."},
        Field{"ended", &ContextRow::ended, "By this call; null: it was open to the end."},
        Field{"allocations", &ContextRow::allocations, "In it: of memory of each kind."},
        Field{"host_allocations", &ContextRow::host_allocations, "Of these, of host memory."},
        Field{"objects", &ContextRow::objects,
              "Streams, events, graphs, modules and the like that were made in it."},
        Field{"allocated_bytes", &ContextRow::allocated_bytes,
              "Of device and host memory, freed or not."},
        Field{"bytes", &ContextRow::bytes,
              "That the context itself took of its device; null: not known."},
        Field{
            "stray", &ContextRow::stray,
            "Nothing but host memory was allocated on its device, in this context or another, and "
            "the process works on another device."},
        Field{"process", &ContextRow::process, "Index into processes."},
    };
};

} // namespace vramscope::report
