// tracker/capture/signal_frames.hpp — whether a stack leads through a signal handler.
//
// A handler may interrupt the program between any two instructions: what an interpreter says of
// its frames then may not be so yet. It returns through a few instructions that end it, which are
// recognised by what they are, as debuggers do. Any thread; for stacks that are new, since it costs
// a system call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::capture {

// A handler's own calls are fewer; a program may keep fewer frames of each stack.
inline constexpr std::size_t kHandlerFrames = 48;

// Whether this is the code to which a handler returns. It is mapped: seven bytes, or as many as are
// the same as there.
bool ends_handler(const std::uint8_t* code) noexcept;

// `addresses`: return addresses, innermost first, of the calling thread's stack. Where they were
// `truncated` early, more are looked at. True too where that cannot be known.
bool interrupts_something(const std::uintptr_t* addresses, std::size_t count,
                          bool truncated) noexcept;

} // namespace vramscope::capture
