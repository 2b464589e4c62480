// tracker/log/recorder.hpp — what the hooks call when something happened.
//
// A hook marks the thread with Inside, asks ready() once the driver call succeeded, and then
// records: allocations and frees by functions of their own, anything else with write() and a record
// of tracker/format/records.hpp. No function throws or blocks on another thread's driver call; none
// allocates with the program's malloc, but for the C library where it tells a new thread the bounds
// of its stack. A fault of ours is counted in the header (format::Lost) and told once. `ticks` come
// from now(). The thread must be ready.
#pragma once

#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/stack_recorder.hpp"

namespace vramscope::log {

void record_alloc(Thread& thread, const format::Alloc& event, const format::Place& place,
                  const CallSite& site) noexcept; // event.stack is filled in here
// A free is told twice: begin_free() before the driver's call takes its time and its stack and
// leaves them in the chunk's header, should the process end in between; then one of the others.
void begin_free(Thread& thread, format::Free& event, const CallSite& site) noexcept;
void record_free(Thread& thread, const format::Free& event) noexcept;
void abandon_free(Thread& thread) noexcept; // the driver refused it

// The stack of an event whose record is written under a lock, where nothing may be unwound: it is
// taken before. 0: it could not be taken.
std::uint32_t record_stack(Thread& thread, const CallSite& site) noexcept;

// Writes an event that happened just now; event.stack is filled in here. `api`: of those records
// that name an entry point.
template <typename R>
[[gnu::noinline]] void write_with_stack(Thread& thread, const CallSite& site, std::uint64_t api,
                                        R event) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint64_t ticks = now();
    event.stack = stack_of(thread, site);
    write(thread, {ticks, api}, event);
}

} // namespace vramscope::log
