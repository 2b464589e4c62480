// tracker/capture/python/interpreter.hpp — the CPython in this process, if there is one.
//
// It is found by the names that it exports for its extension modules, in whatever object they are:
// a program, or a library that was opened RTLD_LOCAL. We call only those of its functions that take
// no lock, allocate nothing and do not need the interpreter's lock (GIL).
#pragma once

#include <cstdint>

#include "tracker/capture/python/layout.hpp"

namespace vramscope::capture::python {

struct Interpreter {
    std::uintptr_t base = 0; // where the object that it is in was loaded; 0: there is none
    std::uint32_t version = 0;
    char version_text[16] = {}; // "3.13.0"
    std::uintptr_t code_type = 0;
    std::uintptr_t text_type = 0;
    std::uintptr_t bytes_type = 0;
    std::uintptr_t loop = 0; // _PyEval_EvalFrameDefault
    // Where the type of code objects has the function that frees one; 0: it may not be changed.
    std::uintptr_t code_free = 0;

    int (*is_initialized)() = nullptr;
    int (*is_ending)() = nullptr;        // null: this version cannot tell
    void* (*attached_state)() = nullptr; // null: this version cannot tell it by thread
    void* (*own_state)() = nullptr;

    // The state of the calling thread; 0: it has none, or the interpreter ends.
    std::uintptr_t state() const noexcept
    {
        if (!is_initialized())
            return 0;
        void* state = attached_state ? attached_state() : nullptr;
        return reinterpret_cast<std::uintptr_t>(state ? state : own_state());
    }
};

// Asks the loader, so the caller holds no lock. False: there is none, or it lacks a name.
bool find_interpreter(Interpreter& out) noexcept;

// False: it was unloaded.
bool is_loaded(const Interpreter& interpreter) noexcept;

// False: its frames are not known to us, and `why_not` says why; else that is null.
bool find_layout(const Interpreter& interpreter, Layout& out, const char*& why_not) noexcept;

} // namespace vramscope::capture::python
