// tests/programs/driver_program.hpp — what the traced programs of the driver API have in common.
//
// Every signature of every version is declared, so cuMemAlloc is the old 32-bit one and
// cuMemAlloc_v2 the usual. A line that allocates ends in a comment "MARK name", by which a test
// finds its number.
#pragma once

#include <cstdio>
#include <cstdlib>

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

#if CUDA_VERSION < 12000 // for asking a driver that is newer than the toolkit
enum CUdriverProcAddressQueryResult : int;
extern "C" CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                        cuuint64_t flags, CUdriverProcAddressQueryResult* status);
#endif

inline void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    std::fprintf(stderr, "the driver answered %d\n", static_cast<int>(result));
    std::exit(3);
}

inline CUdevice first_device()
{
    CUdevice device = 0;
    check(cuInit(0));
    check(cuDeviceGet(&device, 0));
    return device;
}

// The primary context of device 0, as the CUDA runtime would use it, current to this thread.
inline CUcontext primary_context()
{
    CUcontext context = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, first_device()));
    check(cuCtxSetCurrent(context));
    return context;
}
