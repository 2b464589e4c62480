// tracker/capture/python/walk.hpp — the frames of Python that the calling thread is in.
//
// They are read where the interpreter has them: no lock is taken, nothing is counted and nothing
// allocated, so that it is right with and without the GIL. A thread's frames cannot change while it
// is in a call of ours. collect() reads every event's; it trusts the layout. read_stack() proves
// each frame, reads carefully and is cold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracker/capture/python/interpreter.hpp"

namespace vramscope::capture::python {

inline constexpr std::size_t kMostFrames = 256; // the innermost are kept

// What a stack is recognised by: two words a frame. The first is its code object and instruction,
// the second tells the code object from those that were at the same address before. (Before Python
// 3.12 that is made of pieces of its file name and line table. Since then the first is the
// instruction alone.)
struct Collected {
    std::size_t words = 0;
    std::uint64_t hash = 0;
};
inline constexpr std::size_t kMostWords = 2 * kMostFrames;
Collected collect(const Layout& layout, std::uintptr_t state, std::uintptr_t* out) noexcept;
// How far from each frame the next one is, which is nearly the same whenever the words are; as many
// as there are frames. That is where matches() looks for them first.
std::size_t collect_steps(const Layout& layout, std::uintptr_t state, std::uintptr_t* out) noexcept;
// Whether what is at the words' addresses can be other code objects than those they are of.
enum class Codes : std::uint8_t { may_differ, are_the_same };
// Whether collect() would find these. To ask is quicker, most of all where the code objects are
// known to be the same: none was freed since these words were seen (freed_codes.hpp). Both have
// most offsets as constants, which find_layout() holds against the interpreter's own.
bool matches(const Layout& layout, std::uintptr_t state, std::span<const std::uintptr_t> words,
             const std::uintptr_t* steps, Codes codes) noexcept;

struct Frame {
    std::uintptr_t code;     // address of the code object
    std::uintptr_t identity; // as collect() tells it
    std::uint32_t offset;    // where the instruction is, in bytes of the bytecode
    std::uint32_t call;      // index into Stack::calls
};

struct Stack {
    Frame frames[kMostFrames]; // innermost first
    std::size_t count;
    // Calls of the interpreter's loop, each of which may run many frames, innermost first: where
    // it has something of its own on the thread's stack; 0: that is not known.
    std::uintptr_t calls[kMostFrames + 1];
    std::size_t call_count;
    bool truncated; // outer frames are missing
};

// Whether the layout was seen to be right in this process. Until then all is read carefully.
enum class Trust : std::uint8_t { none, proven };

// False: what was read cannot be frames of Python, and `why` says why not.
bool read_stack(const Interpreter& interpreter, const Layout& layout, std::uintptr_t state,
                Trust trust, Stack& out, const char*& why) noexcept;

} // namespace vramscope::capture::python
