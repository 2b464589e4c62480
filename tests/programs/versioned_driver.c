/* tests/programs/versioned_driver.c — a libcuda.so.1 whose names have a version, as dlvsym wants
 * it. Does next to nothing. */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

static CUdeviceptr next = 0x7f0000000000;

CUresult cuInit(unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device)
{
    *context = (CUcontext)&next;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes)
{
    *address = next;
    next += (bytes + 511) & ~(size_t)511;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    return address < next ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
