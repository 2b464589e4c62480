// interpose/doors/lookup.hpp — a look-up through the driver itself (cuGetProcAddress).
#pragma once

#include "interpose/hooks/driver.hpp"

namespace vramscope::hooks {

// The program gets our wrapper where the driver gave its own function.
struct LooksUp {
    const char* symbol;
    void** out;
    int version;
    cuuint64_t flags;

    void substitute(const Driver& driver) const noexcept;
};

} // namespace vramscope::hooks
