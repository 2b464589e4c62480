// interpose/hooks/call.hpp — one call of a hooked entry point by the program.
#pragma once

#include <atomic>
#include <type_traits>

#include "interpose/hooks/hook.hpp"

namespace vramscope::hooks {

class ContextPool;

// The first ready() of a process opens the log with these.
extern const log::Opening kOpening;

struct Call {
    log::Thread& thread;
    Hook hook;
    const log::CallSite& site;
    std::uint64_t ticks = 0;          // when memory ends: the time before the driver's call
    std::uint64_t ended = 0;          // when the last driver call ended; 0: it was not timed
    ContextPool* to_settle = nullptr; // keeps too much since this free

    std::uint64_t api() const { return static_cast<std::uint64_t>(hook); }
    [[gnu::always_inline]] bool ready() { return log::ready(thread, kOpening); }
    void take_ticks()
    {
        if (ready())
            ticks = log::now();
    }
};

// Writes what was kept for the log, if there is one. The log's opener makes it known and then looks
// at what was kept; a keeper does both in the other order. So one of them sees the other.
template <class Write>
void write_if_open(Write write) noexcept
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
    log::Thread& thread = log::this_thread;
    if (!log::process->generation || thread.inside != log::Inside::program)
        return;
    thread.inside = log::Inside::recorder;
    if (log::ready(thread, kOpening))
        write(thread);
    thread.inside = log::Inside::program;
}

// Addresses and handles are numbers in the log.
template <class T>
std::uint64_t number(T value)
{
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<std::uintptr_t>(value);
    else
        return value;
}

} // namespace vramscope::hooks
