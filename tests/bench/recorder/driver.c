// tests/bench/recorder/driver.c — the least that passes for a CUDA driver.
//
// Each call costs a few instructions.

#include <stddef.h>
#include <string.h>

typedef unsigned long long Pointer;
static int the_context;
// Each thread has addresses of its own, so that the driver shares no cache line.
static __thread Pointer next_address;

int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}

int cuMemAlloc_v2(Pointer* out, size_t bytes)
{
    if (!next_address)
        next_address =
            0x700000000000ull + (((Pointer)(size_t)&next_address) << 20 & 0xfffff00000000ull);
    *out = next_address;
    next_address += (bytes + 511) & ~(size_t)511;
    return 0;
}

int cuMemFree_v2(Pointer address)
{
    (void)address;
    return 0;
}

int cuCtxSynchronize(void)
{
    return 0;
}

int cuDriverGetVersion(int* version)
{
    *version = 12040;
    return 0;
}

int cuCtxGetCurrent(void** context)
{
    *context = &the_context;
    return 0;
}

int cuCtxGetDevice(int* device)
{
    *device = 0;
    return 0;
}

int cuDeviceGetName(char* name, int length, int device)
{
    (void)device;
    strncpy(name, "bench", (size_t)length);
    return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device)
{
    (void)device;
    *bytes = (size_t)1 << 34;
    return 0;
}

int cuDeviceGetCount(int* count)
{
    *count = 1;
    return 0;
}
