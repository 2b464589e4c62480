// tracker/capture/python/layout.hpp — where CPython keeps what a walk over its frames reads.
//
// Up to 3.12 the offsets are those of x86-64 release builds, by version; since 3.13 the interpreter
// has a table of them itself (_Py_DebugOffsets), whose own shape differs with each minor version.
// Nobody promises any of this: who uses a layout proves it on the first stack (walk.hpp).
#pragma once

#include <cstdint>

#include "tracker/format/enumerations.hpp"

namespace vramscope::capture::python {

// How a frame tells in which call of the interpreter's loop it runs.
enum class Nesting : std::uint8_t {
    call_each, // up to 3.10: each frame has a call of its own
    entries,   // 3.11: the outermost frame of a call is marked; the call has a struct on its stack
    shims,     // since 3.12: the call's outermost frame is one without code, on the call's stack
};

// Offsets in bytes.
struct Layout {
    std::uint8_t minor; // 3.minor
    Nesting nesting;
    format::LineTable lines;
    bool top_is_indirect; // `top` leads to a struct whose `top_inside` leads to the frame

    std::uint16_t top; // in a thread's state
    std::uint16_t top_inside;
    std::uint16_t outer_call;  // in that struct: the same of the call around it
    std::uint16_t interpreter; // in a thread's state; 0: versions are the process's

    std::uint32_t interpreter_id; // in that

    std::uint16_t back; // in a frame
    std::uint16_t code;
    std::uint16_t instruction; // since 3.11 a pointer into the code object, before an index
    std::uint16_t is_entry;
    std::uint16_t owner;

    std::uint16_t file; // in a code object
    std::uint16_t name;
    std::uint16_t first_line;
    std::uint16_t line_table;
    std::uint16_t bytecode;        // since 3.11; before it is an object of its own
    std::uint16_t first_traceable; // since 3.11: a frame before this instruction is not set up yet
    std::uint16_t version;         // a number that no other code object has; 0: there is none

    std::uint16_t ascii; // in a text: the bytes of one that is ASCII alone
    std::uint16_t wide;  // and of another
};

inline constexpr std::uint16_t kType = 8;  // in every object
inline constexpr std::uint16_t kSize = 16; // in a text, in bytes and in code: how many there are
inline constexpr std::uint16_t kTextState = 32;
inline constexpr std::uint32_t kTextIsAscii = 1u << 6;   // in that state
inline constexpr std::uint32_t kTextIsCompact = 1u << 5; // its characters follow it
inline constexpr std::uint32_t kTextKindShift = 2;       // bytes of a character
inline constexpr std::uint32_t kTextKindMask = 7;
inline constexpr std::uint16_t kBytesData = 32;
inline constexpr std::uint8_t kOwnedByGenerator = 1; // is set up at once
inline constexpr std::uint8_t kOwnedByLoop = 3; // the owner of a shim; no frame has a larger one
inline constexpr std::uintptr_t kTagBits = 7;   // in a pointer to code, since 3.14

// Null: not a version whose frames are known. `version` is PY_VERSION_HEX.
const Layout* known_layout(std::uint32_t version) noexcept;

// Reads the table of a version since 3.13, which begins at `runtime`. Null: it did; else why not.
const char* read_offsets(std::uintptr_t runtime, std::uint32_t version, Layout& out) noexcept;

} // namespace vramscope::capture::python
