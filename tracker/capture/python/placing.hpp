// tracker/capture/python/placing.hpp — which native frames run the frames of Python.
//
// A call of the interpreter's loop has something of its own on the thread's stack, so that the
// addresses tell in which native frame it lies; no symbol is needed. Where an unwind table is not
// plain (cfi.hpp), or Python is older than 3.11, the native frames of the loop are counted instead.
//
// Both give for each call the index of the native frame that runs it; the number of native frames
// for one beyond them. False: that is not known. The stack has a frame of Python. They ask the
// loader, so the caller holds no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracker/capture/frame_walk.hpp"
#include "tracker/capture/python/walk.hpp"

namespace vramscope::capture::python {

// `native` begins in the caller of the hook; of more than `most` native frames the outer ones are
// not recorded.
bool place_by_address(const Stack& stack, FrameWalk native, std::size_t most,
                      std::uint32_t* native_of_call) noexcept;

struct NativeStack {
    std::span<const std::uintptr_t> addresses; // return addresses, innermost first
    bool truncated;
};
// `loop` is the interpreter's; 0: that is not known.
bool place_by_counting(const Stack& stack, std::uintptr_t loop, const NativeStack& native,
                       std::uint32_t* native_of_call) noexcept;

} // namespace vramscope::capture::python
