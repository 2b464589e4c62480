// tracker/capture/cfi.hpp — where a function keeps its return address, as its unwind table says.
//
// Reads .eh_frame of a loaded object for one address: the rules of the ordinary frames that
// compilers make, and the end of a signal handler. What it does not know (expressions, other
// registers) it calls unsupported; it never guesses. It takes half a microsecond: keep what it
// says. It asks the loader, so the caller holds no lock.
#pragma once

#include <cstdint>

namespace vramscope::capture {

struct FrameRule {
    enum class Kind : std::uint8_t {
        unsupported,
        end, // the outermost frame: it has no return address
        plain,
        signal, // it ends a signal handler: the kernel has put what was interrupted above it
    };
    Kind kind = Kind::unsupported;
    bool from_frame_pointer = false; // canonical frame address = rbp + offset; else rsp + offset
    bool saves_frame_pointer = false;
    std::int32_t frame_offset = 0;
    std::int32_t return_address_offset = 0; // distance from the canonical frame address
    std::int32_t frame_pointer_offset = 0;  // distance from it to the caller's saved rbp
};

// Returns the rule at the instruction before `return_address`.
FrameRule frame_rule(std::uintptr_t return_address) noexcept;

} // namespace vramscope::capture
