// tracker/log/stack_recorder.hpp — the stack of an event as an id, written to the log once.
//
// A stack that was verified costs a comparison of words; one that must be unwound some hundred ns;
// one that nobody has seen is written with the modules that came or went before it.
#pragma once

#include "tracker/log/thread.hpp"

namespace vramscope::log {

// 0: it could not be taken. The thread must be ready and have room for the event itself.
std::uint32_t stack_of(Thread& thread, const CallSite& site) noexcept;

// Writes which libraries came and went since the last time. The thread must be ready.
void note_modules(Thread& thread) noexcept;
// Code is gone: what unwinding learnt about its addresses must not be used again. Any thread,
// ready or not.
void code_unloaded() noexcept;

} // namespace vramscope::log
