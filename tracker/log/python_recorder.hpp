// tracker/log/python_recorder.hpp — the frames of Python of an event's stack.
//
// Where CPython is in the process, a stack is a native one and the functions of Python that its
// interpreter runs. The pair has an id of its own, and so has each code object; all are written to
// the log once. The first stack of the process proves that the interpreter's frames are laid out as
// we believe. Where they are not, Python's frames are switched off and the log says why.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracker/log/process.hpp"

namespace vramscope::log {

// Stacks of this process may have frames of Python.
extern constinit std::atomic<bool> python_seen;

// Looks for an interpreter among what is loaded; asks the loader, so the caller holds no lock. The
// thread must be ready.
void look_for_python(Thread& thread) noexcept;
// To be called when code is gone. Any thread may call, ready or not.
void check_python_is_loaded() noexcept;
void forget_python_of_parent() noexcept;
// To be called before any thread can find this native stack: it leads through a signal handler.
void note_interrupting_stack(std::uint32_t native) noexcept;

// Writes into the log's header that the interpreter ends, if it does. To be called before an object
// of the driver's is recorded, and with each new stack: what its end frees comes from stacks that
// were not there before.
void note_end_of_python() noexcept;

// The id of the stack that consists of this native one, of the thread's frames of Python and of the
// origin of what it does (origins.hpp); `native` itself if there is neither. The thread is ready.
std::uint32_t add_python(Thread& thread, const CallSite& site, std::uint32_t native) noexcept;
// The same without native frames; 0: there is neither. The thread is ready.
std::uint32_t python_origin(Thread& thread) noexcept;

} // namespace vramscope::log
