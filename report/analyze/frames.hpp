// report/analyze/frames.hpp — which frames of a stack a reader needs, and which API the user
// called.
//
// Hidden: vramscope, the driver and the CUDA runtime at the inner end, header wrappers such as
// cudaMalloc<float> included; the C start-up code at the outer end. If nothing would be left, all
// are kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/read/symbolizer.hpp"

namespace vramscope::report {

struct FrameRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

FrameRange visible_frames(const std::vector<Frame>& stack);

// The name that the user wrote: "cudaMalloc" from the runtime's frames of the stack, else the
// driver's symbol without its version: "cuMemAlloc" for cuMemAlloc_v2.
std::string user_api(const std::vector<Frame>& stack, std::string_view entry_point);

} // namespace vramscope::report
