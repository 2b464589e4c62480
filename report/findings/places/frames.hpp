// report/findings/places/frames.hpp — which frames a reader needs, and which API was called.
//
// Hidden: vramscope, the driver and the CUDA runtime at the inner end, header wrappers such as
// cudaMalloc<float> included; the C start-up code at the outer end. Of what is visible then, the
// code of libraries is folded, wherever it is in the stack. If nothing would be left, all are kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/log/log_tables.hpp"
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

// The code of the C library and the loader that begins a program or a thread.
bool is_start_up_code(const Frame& frame);

// Whether a program or one of its threads begins in this frame or below it: nothing that a reader
// needs called it.
bool begins_here(const Frame& frame);

// Where Go's code leaves its own stack for one that C can use.
bool leaves_go(const Frame& frame);

// The index of the innermost visible frame of the program's own code; of the innermost visible one
// where there is none.
std::size_t innermost_own_frame(const std::vector<Frame>& stack, const FrameRange& visible);

// The same frame; where its function is not known, the next one of its module whose is. One with a
// line is not taken: in such a file each function has a name, and this one's is missing.
std::size_t named_frame(const std::vector<Frame>& stack, std::size_t own);

// The file of the code that called the driver or the runtime; of a function of Python, where the
// call came by ctypes. Empty: it is not known.
std::string_view calling_module(const std::vector<Frame>& stack, const FrameRange& visible);

// Leaves only the frames that are shown.
void show_only(std::vector<Frame>& stack, const FrameRange& visible, ShownFrames shown);

// The name that the user wrote: "cudaMalloc" from the runtime's frames of the stack, else the
// driver's symbol without its version: "cuMemAlloc" for cuMemAlloc_v2.
std::string user_api(const std::vector<Frame>& stack, std::string_view entry_point);

// Whether a frame is code of libraries made of templates: CUDA programs are compiled with CCCL
// (Thrust, CUB, libcu++), the C++ standard library and the headers of the toolkit. Their templates
// become code of the user's module, so the namespace tells them apart, wherever the headers lie;
// and the header's path, where the namespace says nothing. What users write themselves stays
// theirs: a namespace of a similar name, a lambda that a library calls, and what they specialise of
// namespace std in files of their own.
bool is_library(const Frame& frame);

// The namespaces and classes that a function lies in, outermost first and without their template
// arguments: "thrust", "detail" of "void thrust::detail::fill<int>(int*)". Of what lies inside a
// function, up to that function.
std::vector<std::string_view> scopes_of(std::string_view function);

// Functions of Python among the frames of a stack. Where a stack leads through code of the user's
// in Python, its innermost line is what a reader is told: all below it is folded, and wherever they
// are, the interpreter, torch, what lies in site-packages, and native code of unknown source.

// A function of Python; its line is 0 if its code object does not say.
Frame python_frame(const LoggedPythonCode& code, std::uint64_t offset);

// In place of functions: a backward pass adds up the gradient of a tensor that none of them made.
Frame leaf_frame();

// Whether a native frame belongs to the interpreter: its loop, its start, its way to C.
bool is_interpreter(const Frame& frame);

// Sets Frame::library where there is code of Python: of the user's, or where there is none, of any.
// Nothing changes elsewhere.
void fold_around_python(std::vector<Frame>& stack, const FrameRange& visible);

// The frames that a call place is named by (fingerprint.hpp): the visible ones; where there is code
// of the user's in Python, what a reader is told of, since interpreter and packages are renewed
// under a program that stays the same.
std::vector<const Frame*> named_frames(const std::vector<Frame>& stack, const FrameRange& visible);

} // namespace vramscope::report
