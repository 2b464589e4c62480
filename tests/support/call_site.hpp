// tests/support/call_site.hpp — what an exported hook sees of its caller.
//
// It is for functions that stand in for a hook.
#pragma once

#include <cstdint>

#include "tracker/log/recorder.hpp"

// Used in the body of a noinline function: the frame address makes the compiler keep rbp where the
// recorder looks for it.
#define VRAMSCOPE_TEST_CALL_SITE()                                                                 \
    ::vramscope::log::CallSite                                                                     \
    {                                                                                              \
        reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),                             \
            reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 16                      \
    }

// Keeps a call from becoming a jump, so that its caller stays on the stack.
#define VRAMSCOPE_TEST_KEEP_FRAME() asm volatile("" ::: "memory")
