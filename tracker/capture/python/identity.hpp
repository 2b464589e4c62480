// tracker/capture/python/identity.hpp — what tells a code object from those at its address before.
//
// The versions of code objects are counted by each interpreter for itself, since 3.13, and what one
// that ended had may be where another's is: so the interpreter's number is part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracker/capture/python/layout.hpp"

namespace vramscope::capture::python {

// What is read may lie anywhere in the interpreter's memory, beside what a sanitizer watches.
template <class Word>
__attribute__((no_sanitize("address", "thread"))) inline Word load(std::uintptr_t at) noexcept
{
    Word value;
    std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
    return value;
}

inline std::uintptr_t pointer(std::uintptr_t at) noexcept
{
    return load<std::uintptr_t>(at);
}

// The number of the interpreter that a thread with this state runs in: none ever has that of one
// that ended. 0 where versions of code objects are the process's.
inline std::uint64_t interpreter_of(const Layout& layout, std::uintptr_t state) noexcept
{
    return layout.interpreter ? pointer(pointer(state + layout.interpreter) + layout.interpreter_id)
                              : 0;
}

inline constexpr std::uintptr_t kNoIdentity = std::uintptr_t{1} << 63; // a bit that none has

// The word at the end of so many bytes; what lies before a shorter text is its own header.
inline std::uint64_t last_word(std::uintptr_t first, std::size_t count) noexcept
{
    return load<std::uint64_t>(first + count - sizeof(std::uint64_t));
}

// Before 3.12 nothing in a code object is its own for ever: one that was freed may have been at the
// same address, and what it had may have been where this one's is. So this looks at the end of the
// file's name, and at both ends of the line table.
inline std::uintptr_t digest(const Layout& layout, std::uintptr_t code) noexcept
{
    const std::uintptr_t file = pointer(code + layout.file);
    const std::uintptr_t lines = pointer(code + layout.line_table);
    const std::size_t lines_size = pointer(lines + kSize);
    const std::uint64_t of_file =
        file + pointer(code + layout.name) + last_word(file + layout.ascii, pointer(file + kSize));
    const std::uint64_t of_lines = lines ^ load<std::uint64_t>(lines + kBytesData);
    const std::uint64_t ends = last_word(lines + kBytesData, lines_size) + lines_size +
                               (std::uint64_t{load<std::uint32_t>(code + layout.first_line)} << 32);
    return (of_file * 0x9e3779b97f4a7c15u + of_lines * 0xff51afd7ed558ccdu + ends) & ~kNoIdentity;
}

// `interpreter`: the number of the thread's, where versions are its own; else 0. It is below 2^31.
inline std::uintptr_t identity(const Layout& layout, std::uintptr_t code,
                               std::uint64_t interpreter) noexcept
{
    if (layout.version)
        if (const auto version = load<std::uint32_t>(code + layout.version))
            return version | interpreter << 32;
    return digest(layout, code);
}

} // namespace vramscope::capture::python
