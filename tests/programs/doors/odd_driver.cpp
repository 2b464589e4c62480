// tests/programs/doors/odd_driver.cpp — a libcuda.so.1 that differs where a driver may.
//
// It does next to nothing.
//
// Its names have a version, as dlvsym wants it. It calls its own exports as anyone would, so that
// they come by way of whoever stands before it. And cuGetProcAddress hands out other functions than
// it exports for memory, so that only what was asked for tells what they are. From CUDA 14 on it
// has functions of memory that nobody knows yet, and known ones with other parameters.
#define __CUDA_API_VERSION_INTERNAL 1
#include <cstring>

#include <cuda.h>

namespace {

CUdeviceptr next = 0x7f0000000000;

CUresult hidden_alloc(CUdeviceptr* address, size_t bytes)
{
    *address = next;
    next += (bytes + 511) / 512 * 512;
    return CUDA_SUCCESS;
}

CUresult hidden_free(CUdeviceptr address)
{
    return address < next ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Nothing is right about what a caller gets who takes these for what they were.
CUresult hidden_newer_free(const char* why, CUdeviceptr address)
{
    return why && address < next ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult hidden_many(CUdeviceptr* address)
{
    return hidden_alloc(address, 1);
}

} // namespace

extern "C" {

CUresult cuMemAllocQuantum(CUdeviceptr* address)
{
    return hidden_alloc(address, 4096);
}

CUresult cuMemAlloc_v3(size_t bytes, CUdeviceptr* address)
{
    return hidden_alloc(address, bytes);
}

CUresult cuLaunchQuantum()
{
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device)
{
    *context = reinterpret_cast<CUcontext>(&next);
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned)
{
    *pitch = width;
    return hidden_alloc(address, width * height);
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes)
{
    size_t pitch = 0;
    return cuMemAllocPitch_v2(address, &pitch, bytes, 1, 4);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    return hidden_free(address);
}

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t)
{
    const struct {
        const char* name;
        int since;
        void* function;
    } kRows[] = {
        {"cuMemAllocQuantum", 14000, reinterpret_cast<void*>(cuMemAllocQuantum)},
        {"cuMemAlloc", 14000, reinterpret_cast<void*>(cuMemAlloc_v3)},
        {"cuMemFree", 14000, reinterpret_cast<void*>(hidden_newer_free)},
        {"cuLaunchQuantum", 14000, reinterpret_cast<void*>(cuLaunchQuantum)},
        {"cuInit", 2000, reinterpret_cast<void*>(cuInit)},
        {"cuDevicePrimaryCtxRetain", 7000, reinterpret_cast<void*>(cuDevicePrimaryCtxRetain)},
        {"cuCtxSetCurrent", 4000, reinterpret_cast<void*>(cuCtxSetCurrent)},
        {"cuMemAlloc", 3020, reinterpret_cast<void*>(hidden_alloc)},
        {"cuMemFree", 3020, reinterpret_cast<void*>(hidden_free)},
    };
    for (const auto& row : kRows)
        if (std::strcmp(row.name, name) == 0 && version >= row.since) {
            *function = row.function;
            return CUDA_SUCCESS;
        }
    const bool one_of_many = std::strncmp(name, "cuMemAllocMany", 14) == 0;
    *function = one_of_many ? reinterpret_cast<void*>(hidden_many) : nullptr;
    return one_of_many ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

} // extern "C"
