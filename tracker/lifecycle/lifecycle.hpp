// tracker/lifecycle/lifecycle.hpp — the log's life in a process, from opening to exit.
//
// The first ready() of a process opens the log; the first ready() of a thread gives it a chunk.
// Everything but ready() is cold.
#pragma once

#include <cstddef>

#include "tracker/log/process.hpp"

namespace vramscope::log {

// One hooked entry point, as the log names it.
struct Api {
    const char* name;
    format::Effect effect;
    format::Memory memory;
};

// The table of hooks, for when the log is opened: their ids are from 0 to below `apis`.
struct Opening {
    std::size_t apis;
    Api (*api)(std::size_t id);
    void (*describe)(Thread& thread); // writes the info records that only the hooks can know
};

// Opens the log if this process has none yet, and joins the thread to it. False: tracing is off.
bool make_ready(Thread& thread, const Opening& opening) noexcept;

[[gnu::always_inline]] inline bool ready(Thread& thread, const Opening& opening) noexcept
{
    if (is_ready(thread)) [[likely]]
        return true;
    return make_ready(thread, opening);
}

// Gives the thread a chunk of the log that is open.
bool join(Thread& thread) noexcept;
// Gives the chunk back; the thread may come again.
void leave(Thread& thread) noexcept;

// Makes room for the ranges of a thread that has not joined. It goes when the thread joins or ends.
void make_room_for_pending(Thread& thread) noexcept;

// How the process ends, as it happens. `status` is the exit status.
void exit_began(int status) noexcept;
[[gnu::cold]] void ended(format::End how, int status) noexcept;

} // namespace vramscope::log
