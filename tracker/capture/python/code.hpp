// tracker/capture/python/code.hpp — what a code object says of itself: its names and its lines.
//
// It is read once for each code object, and carefully. Texts are turned into UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracker/capture/python/interpreter.hpp"
#include "tracker/format/fields.hpp"

namespace vramscope::capture::python {

struct CodeNames {
    std::uint32_t first_line;
    std::string_view file; // these two are in the room below
    std::string_view name;
    std::uintptr_t lines; // address of the line table's bytes
    std::size_t line_bytes;
    char room[2][format::kMostTextBytes];
};

// False: it cannot be read.
bool read_code(const Layout& layout, std::uintptr_t code, CodeNames& out) noexcept;

} // namespace vramscope::capture::python
