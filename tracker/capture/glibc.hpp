// tracker/capture/glibc.hpp — what glibc has and musl has not.
//
// A program of musl that finds libvramscope.so in its LD_PRELOAD would not start where a name is
// missing. So these are weak: there they are null, and all of ours stays out (is_glibc()). Whatever
// uses one of them includes this file. tests/e2e/musl_test.py holds that there are no others.
#pragma once

#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <sys/uio.h>

#pragma weak _r_debug
#pragma weak backtrace
#pragma weak on_exit
#pragma weak pwritev2

extern "C" {
extern void* __dso_handle; // the linker: each object's own
[[gnu::weak]] extern void*
    __libc_stack_end; // ld.so: the stack pointer that the process started with
// pthread_atfork() and at_quick_exit() as they reach libc: those are linked in, and not weak.
[[gnu::weak]] int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                    void* object);
[[gnu::weak]] int __cxa_at_quick_exit(void (*handler)(void*), void* object);
}

namespace vramscope::capture {

inline bool is_glibc() noexcept
{
    return &_r_debug != nullptr;
}

} // namespace vramscope::capture
