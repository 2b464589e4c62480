// report/findings/places/python_frames.hpp — functions of Python among the frames of a stack.
//
// Where a stack leads through code of the user's in Python, its innermost line is what a reader is
// told: all below it is folded, and wherever they are, the interpreter, torch, what lies in
// site-packages, and native code whose source is not known.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/findings/places/frames.hpp"
#include "report/log/log_tables.hpp"
#include "report/model/call_place.hpp"

namespace vramscope::report {

// A function of Python; its line is 0 if its code object does not say.
Frame python_frame(const LoggedPythonCode& code, std::uint64_t offset);

// In place of functions: a backward pass adds up the gradient of a tensor that none of them computed.
Frame leaf_frame();

// Whether a native frame belongs to the interpreter: its loop, its start, its way to C.
bool is_interpreter(const Frame& frame);

// Sets Frame::library where there is code of the user's in Python; nothing changes elsewhere.
void fold_around_python(std::vector<Frame>& stack, const FrameRange& visible);

// The frames that a call place is named by (fingerprint.hpp): the visible ones; where there is code
// of the user's in Python, what a reader is told of, since interpreter and packages are renewed
// under a program that stays the same.
std::vector<Frame> named_frames(const std::vector<Frame>& stack, const FrameRange& visible);

} // namespace vramscope::report
