// interpose/hooks/program_interface.cpp — what interpose/vramscope.h declares for programs.
//
// Any thread, at any time: before the log is open, while the process exits, without CUDA.
#include "interpose/vramscope.h"

#include "tracker/log/lifecycle.hpp"

#define VRAMSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace vramscope;

VRAMSCOPE_EXPORT void vramscope_push(const char* name)
{
    log::push_range(name ? name : "");
}
VRAMSCOPE_EXPORT void vramscope_pop(void)
{
    log::pop_range();
}
VRAMSCOPE_EXPORT void vramscope_mark(const char* name)
{
    log::mark(name ? name : "");
}

// There is no pool yet.
VRAMSCOPE_EXPORT std::int64_t vramscope_pool_empty_cache(void)
{
    return -1;
}
VRAMSCOPE_EXPORT void vramscope_pool_reset_peak(void) {}
VRAMSCOPE_EXPORT int vramscope_pool_stats(int, vramscope_memory_stats*, std::size_t)
{
    return -1;
}
