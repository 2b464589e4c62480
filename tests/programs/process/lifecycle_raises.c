/* tests/programs/process/lifecycle_raises.c — a preload behind ours.
 *
 * An allocation of kRaisingBytes is interrupted by SIGUSR1 on its way through the driver, before it
 * has done anything. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

enum { kRaisingBytes = 7777 };

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes)
{
    static CUresult (*next)(CUdeviceptr*, size_t);
    if (!next) {
        void* found = dlsym(RTLD_NEXT, "cuMemAlloc_v2");
        if (!found)
            return CUDA_ERROR_NOT_FOUND;
        memcpy(&next, &found, sizeof next);
    }
    if (bytes == kRaisingBytes)
        raise(SIGUSR1);
    return next(address, bytes);
}
