// tracker/log/stack_recorder.hpp — the stack of an event as an id, written to the log once.
//
// A stack that was verified costs a comparison of words; one that must be unwound some hundred ns;
// a new one is written, with the modules that came or went before it.
#pragma once

#include "tracker/log/thread.hpp"

namespace vramscope::log {

// Returns the id, or 0 if the stack could not be taken. The thread must be ready and have room for
// the event itself.
std::uint32_t stack_of(Thread& thread, const CallSite& site) noexcept;

// Writes which libraries came and went since the last time. The thread must be ready.
void note_modules(Thread& thread) noexcept;
// To be called when code is gone: what unwinding learnt about its addresses must not be used again.
// Any thread may call, ready or not.
void code_unloaded() noexcept;

} // namespace vramscope::log
