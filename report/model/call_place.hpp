// report/model/call_place.hpp — a call of an entry point, as a reader wants to see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::report {

struct Frame {
    std::string function; // demangled; empty if not known
    // As DWARF alone calls it, where `function` was put together from the scopes around it: what
    // fingerprints and rules of suppression knew it by before.
    std::string short_name{};
    std::string file;         // empty if not known
    int line = 0;             // 0 if not known
    int function_line = 0;    // where the function begins; 0 if not known
    std::string module;       // ModuleId::path
    std::uint64_t offset = 0; // the vaddr asked for
    bool inlined = false;     // the code of this call lies inside the next frame's function
    std::string build_id{};   // ModuleId::build_id
    bool library = false;     // of a library that the program was compiled with: StackReader judges
    bool python = false;      // a function of Python: it has a file, and no module
};

// The last part of a path: a file without its folders.
constexpr std::string_view file_name(std::string_view path) noexcept
{
    return path.substr(path.rfind('/') + 1);
}

// Why the outermost frame of a stack is not the program's own beginning, nor a thread's.
enum class StackCut {
    none,            // it is, as far as is known
    no_unwind_table, // the code there has no unwind table, so its caller is not known
    no_module,       // the code there is in no file, so its caller is not known
};

// A call of an entry point, as a reader wants to see it.
struct CallPlace {
    std::string api;              // what the user called: cudaMalloc
    std::string entry_point;      // what was hooked: cuMemAlloc_v2; empty: the log does not say
    std::vector<Frame> stack;     // the frames that were asked for, innermost first
    std::size_t own = 0;          // index of the innermost frame of the program's own code
    bool stack_truncated = false; // the outermost frames were not recorded
    StackCut cut = StackCut::none;
    // Of the code that called the driver or the runtime, whether its frame is shown or not: the file
    // of its module; and the library of NVIDIA's that it belongs to, or took memory for, "cuBLAS".
    std::string module;
    std::string library;
    std::string fingerprint; // see fingerprint.hpp; of visible frames, those of libraries too
    std::optional<std::size_t> suppression; // index of the rule that it matches

    std::string key() const; // equal keys: the same call to a reader
    // Calls with one key may differ in frames that are not shown: the least fingerprint is kept.
    void merge(const CallPlace& same);
    const Frame* own_frame() const; // nullptr: there is no stack
};

struct TimedCall : CallPlace {
    std::uint64_t at_ns = 0; // since the log was opened
};

// Adds to a key what makes two frames the same to a reader: the place in the source, as far as it
// is known; else the place in the module.
void append_place(std::string& key, const Frame& frame);

// What makes two frames those of one function.
std::string function_key(const Frame& frame);

const char* name(StackCut cut) noexcept; // "no-unwind-table", …; nullptr: none

} // namespace vramscope::report
