// tests/oracle/twin/memory.hpp — memory that is lost, for tests/oracle/suppressions_test.py.
//
// One program, built twice: with TWIN_HOST it takes memory from malloc, otherwise from the driver.
#pragma once

#include <cstddef>

#ifdef TWIN_HOST
#include <cstdlib>
[[gnu::always_inline]] inline void lose(std::size_t bytes)
{
    static volatile unsigned char* taken;
    taken = static_cast<volatile unsigned char*>(std::malloc(bytes));
    taken[0] = 1;
    taken = nullptr; // no pointer to it is left
}
#else
#include <cuda.h>
[[gnu::always_inline]] inline void lose(std::size_t bytes)
{
    CUdeviceptr taken;
    cuMemAlloc(&taken, bytes);
}
#endif

#define TWIN_FRAME [[gnu::noinline]] // has a frame of its own, which ends after the call
#define TWIN_END asm volatile("" ::: "memory")

extern "C" void plugin_leak(); // in a library, from twin_plugin.cpp
void leaks_of_another_file();
