// tracker/capture/python/freed_codes.hpp — how many code objects the interpreter has freed.
//
// A code object is told from those that were at its address before by its texts (before 3.12) or by
// a number of its own; either is the greater part of what a walk takes. As long as none was freed
// none can be at another's address. So the function that frees them, to which their type points, is
// replaced by one that counts and then calls it: of the interpreter's memory this one word is
// changed, and nothing else. Any thread may call.
#pragma once

#include <cstdint>

#include "tracker/capture/python/interpreter.hpp"

namespace vramscope::capture::python {

// From the first call on they are counted, unless the interpreter does not let us.
void count_freed_codes(const Interpreter& interpreter) noexcept;

// Two moments between which one was freed never have the same number. 0: they are not counted, or
// not any more. To be called only while the calling thread has a state of the interpreter, which is
// loaded then.
std::uint64_t freed_codes() noexcept;

} // namespace vramscope::capture::python
