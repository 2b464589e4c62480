// tests/programs/python/quiet_driver.c — a libcuda.so.1 that may be called in a signal handler.
//
// The simulated driver takes locks, as a real one does.
#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags)
{
    return flags != 0;
}

int cuMemAlloc_v2(uint64_t* address, size_t bytes)
{
    static uint64_t next = 0x10000000;
    *address = __atomic_fetch_add(&next, (bytes + 4095) & ~(size_t)4095, __ATOMIC_RELAXED);
    return 0;
}

int cuMemFree_v2(uint64_t address)
{
    return address == 0;
}
