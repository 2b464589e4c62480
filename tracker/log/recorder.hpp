// tracker/log/recorder.hpp — what the hooks call when something happened.
//
// A hook marks the thread with Inside, asks ready() once the driver call succeeded, and then
// records: allocations and frees by functions of their own, anything else with write() and a record
// of tracker/format/records.hpp. No function throws or blocks on another thread's driver call. None
// allocates with the program's malloc, except that the C library may when it tells a new thread the
// bounds of its stack. A fault of ours is counted in the header (format::Lost) and reported once.
// `ticks` come from now(). The thread must be ready.
#pragma once

#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/stack_recorder.hpp"

namespace vramscope::log {

// event.stack is set here.
void record_alloc(Thread& thread, format::Alloc& event, const format::Place& place,
                  const CallSite& site) noexcept;
// The same of an object of the driver's. Python's end makes some, too: it is looked for first, and
// the time is taken after that, where event.ticks is 0.
void record_object(Thread& thread, format::Alloc& event, const format::Place& place,
                   const CallSite& site) noexcept;
// The same, at a stack that the log has already.
void record_alloc_at(Thread& thread, format::Alloc& event, std::uint32_t stack,
                     const format::Place& place) noexcept;
// A free is reported twice. Before the driver's call, begin_free() takes its time and its stack
// and leaves them in the chunk's header, should the process end in between. One of the others
// follows the call.
void begin_free(Thread& thread, format::Free& event, const CallSite& site) noexcept;
void record_free(Thread& thread, const format::Free& event) noexcept;
void abandon_free(Thread& thread) noexcept; // the driver refused the free

// Takes the stack of an event whose record is written under a lock, where nothing may be unwound.
// 0: it could not be taken.
std::uint32_t record_stack(Thread& thread, const CallSite& site) noexcept;

// Writes an event that happened just now; event.stack is filled in here. `api` is for records that
// name an entry point.
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
