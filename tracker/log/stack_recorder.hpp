// tracker/log/stack_recorder.hpp — the stack of an event as an id, written to the log once.
//
// A stack that was verified costs a comparison of words; one that must be unwound some hundred ns;
// one that nobody has seen is written with the modules that came or went before it.
#pragma once

#include "tracker/log/recorder.hpp"

namespace vramscope::log {

// 0: it could not be taken. The thread must be ready and have room for the event itself.
std::uint32_t stack_of(Thread& thread, const CallSite& site) noexcept;

} // namespace vramscope::log
