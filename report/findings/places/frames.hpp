// report/findings/places/frames.hpp — which frames a reader needs, and which API was called.
//
// Hidden: vramscope, the driver and the CUDA runtime at the inner end, header wrappers such as
// cudaMalloc<float> included; the C start-up code at the outer end. Of what is visible then, the
// code of libraries (library_frames.hpp) is folded, wherever it is in the stack. If nothing would
// be left, all are kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/call_place.hpp"

namespace vramscope::report {

struct FrameRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// Which frames of a stack a reader is given.
enum class ShownFrames {
    own,     // the program's own code: in reports
    visible, // libraries too: in exports, whose readers look into them
    all,
};

FrameRange visible_frames(const std::vector<Frame>& stack);

// Whether a program or one of its threads begins in this frame or below it: nothing that a reader
// needs called it.
bool begins_here(const Frame& frame);

// The index of the innermost visible frame of the program's own code; of the innermost visible one
// where there is none.
std::size_t innermost_own_frame(const std::vector<Frame>& stack, const FrameRange& visible);

// The file of the code that called the driver or the runtime; of a function of Python, where the
// call came by ctypes. Empty: it is not known.
std::string_view calling_module(const std::vector<Frame>& stack, const FrameRange& visible);

// Leaves only the frames that are shown.
void show_only(std::vector<Frame>& stack, const FrameRange& visible, ShownFrames shown);

// The name that the user wrote: "cudaMalloc" from the runtime's frames of the stack, else the
// driver's symbol without its version: "cuMemAlloc" for cuMemAlloc_v2.
std::string user_api(const std::vector<Frame>& stack, std::string_view entry_point);

} // namespace vramscope::report
