// report/model/frame.hpp — one function in a call stack, as far as the files of the program tell.
#pragma once

#include <cstdint>
#include <string>

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
};

} // namespace vramscope::report
