// interpose/serve/events.hpp — what became of a call, as the log is told.
//
// The thread must be ready. After an allocation that reached the driver, the driver is asked how
// much memory is free (device_memory.hpp).
#pragma once

#include "interpose/hooks/call.hpp"
#include "interpose/serve/contexts/device_memory.hpp"

namespace vramscope::hooks {

[[gnu::always_inline]] inline format::Alloc allocation(Call& call, std::uint64_t ticks,
                                                       std::uint64_t address, std::uint64_t bytes)
{
    format::Alloc event{};
    event.api = call.api();
    event.ticks = ticks;
    event.address = address;
    event.bytes = bytes;
    return event;
}

// Returns its call stack.
[[gnu::always_inline]] inline std::uint64_t record_allocation(Call& call, std::uint64_t address,
                                                              std::uint64_t bytes,
                                                              const format::Place& place)
{
    const std::uint64_t ticks = call.ended ? call.ended : log::now();
    format::Alloc event = allocation(call, ticks, address, bytes);
    log::record_alloc(call.thread, event, place, call.site);
    allocated_by_driver(call, place, ticks);
    return event.stack;
}

// Records an allocation whose block, in a segment of the pool, is `slack` bytes larger
// than asked for.
inline void record_pooled(Call& call, std::uint64_t address, std::uint64_t bytes,
                          const format::Place& place, std::uint64_t slack)
{
    // Not the driver call's time: its segment's record came after that.
    format::Alloc event = allocation(call, log::now(), address, bytes);
    event.pooled = true;
    event.slack = slack;
    log::record_alloc(call.thread, event, place, call.site);
}

// The driver refused to free this. Any call, ready or not.
void record_bad_free(Call& call, CUresult result, std::uint64_t address);

} // namespace vramscope::hooks
