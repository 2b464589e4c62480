// tracker/capture/python/placing.hpp — which native frames run the frames of Python.
//
// A call of the interpreter's loop has something of its own on the thread's stack, so that the
// addresses tell in which native frame it lies; no symbol is needed. Where an unwind table is not
// plain (cfi.hpp), or Python is older than 3.11, the native frames of the loop are counted instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracker/capture/python/walk.hpp"

namespace vramscope::capture::python {

struct NativeStack {
    std::uintptr_t frame; // canonical frame address of the hook; the caller's rbp is at frame - 16
    std::uintptr_t high;  // the thread's stack ends here; 0: it is on another one
    std::span<const std::uintptr_t> addresses; // return addresses, innermost first
    bool truncated;
};

// Gives for each call the index of the native frame that runs it; the number of native frames for
// one beyond them. False: that is not known. It asks the loader, so the caller holds no lock.
bool place(const Stack& stack, std::uintptr_t loop, const NativeStack& native,
           std::uint32_t* native_of_call) noexcept;

} // namespace vramscope::capture::python
