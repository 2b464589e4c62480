// tracker/log/stack_recorder.hpp — the stack of an event as an id, written to the log once.
//
// A stack that was verified costs a comparison of words; others are walked by the rules of their
// frames, or unwound where these are not plain. A new one is written, with the modules that came
// or went before it.
#pragma once

#include <atomic>

#include "tracker/log/process.hpp"
#include "tracker/log/python_recorder.hpp"

namespace vramscope::log {

// One of so many verified stacks is walked all the same.
inline constexpr std::uint64_t kSelfCheckEvery = 1024;
// One of so many walked ones is unwound: that costs two microseconds and two system calls.
inline constexpr std::uint64_t kWalkCheckEvery = 64;

// Walks or unwinds. `expected` is the id that the stack was recognised as; 0: it was not.
std::uint32_t unwind_stack(Thread& thread, const CallSite& site, std::uint32_t expected) noexcept;

// The id of the native frames alone.
inline std::uint32_t native_stack_of(Thread& thread, const CallSite& site) noexcept
{
    if (!thread.stacks || !verifying.load(std::memory_order_relaxed)) [[unlikely]]
        return unwind_stack(thread, site, 0);
    const std::uint32_t id =
        thread.stacks->find(site.frame, site.return_address, modules.unload_epoch());
    if (!id) [[unlikely]]
        return unwind_stack(thread, site, 0);
    if (++thread.verified % kSelfCheckEvery == 0) [[unlikely]] {
        std::atomic_ref(process->header->stacks_verified)
            .fetch_add(kSelfCheckEvery, std::memory_order_relaxed);
        return unwind_stack(thread, site, id);
    }
    return id;
}

// Returns the id, or 0 if the stack could not be taken. The thread must be ready and have room for
// the event itself.
inline std::uint32_t stack_of(Thread& thread, const CallSite& site) noexcept
{
    const std::uint32_t native = native_stack_of(thread, site);
    if (python_seen.load(std::memory_order_relaxed)) [[unlikely]]
        return add_python(thread, site, native);
    return native;
}

// Writes which libraries came and went since the last time. The thread must be ready.
void note_modules(Thread& thread) noexcept;
// To be called when code is gone: what unwinding learnt about its addresses must not be used again.
// Any thread may call, ready or not.
void code_unloaded() noexcept;

} // namespace vramscope::log
