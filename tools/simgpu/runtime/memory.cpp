// tools/simgpu/runtime/memory.cpp — cudaMalloc, cudaFree and their kin.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaMalloc(void** devPtr, size_t size)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!devPtr)
            return CUDA_ERROR_INVALID_VALUE;
        CUdeviceptr address = 0;
        const CUresult result = size == 0 ? CUDA_SUCCESS : driver.cuMemAlloc(&address, size);
        *devPtr = reinterpret_cast<void*>(address); // null where there is none
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaFree(void* devPtr)
{
    return enter([&](const Driver& driver) -> CUresult {
        return devPtr ? driver.cuMemFree(address_of(devPtr)) : CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width,
                                           size_t height)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!devPtr || !pitch)
            return CUDA_ERROR_INVALID_VALUE;
        CUdeviceptr address = 0;
        const CUresult result = width == 0 || height == 0
                                    ? CUDA_SUCCESS
                                    : driver.cuMemAllocPitch(&address, pitch, width, height, 4);
        *devPtr = reinterpret_cast<void*>(address);
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaMalloc3D(cudaPitchedPtr* pitchedDevPtr, cudaExtent extent)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!pitchedDevPtr)
            return CUDA_ERROR_INVALID_VALUE;
        CUdeviceptr address = 0;
        size_t pitch = 0;
        if (extent.width != 0 && extent.height != 0 && extent.depth != 0) {
            const CUresult result = driver.cuMemAllocPitch(&address, &pitch, extent.width,
                                                           extent.height * extent.depth, 4);
            if (result != CUDA_SUCCESS)
                return result;
        }
        *pitchedDevPtr = {reinterpret_cast<void*>(address), pitch, extent.width, extent.height};
        return CUDA_SUCCESS;
    });
}

namespace {

cudaError_t allocate_pinned(void** out, size_t bytes, unsigned flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!out)
            return CUDA_ERROR_INVALID_VALUE;
        if (bytes > 0)
            return driver.cuMemHostAlloc(out, bytes, flags);
        *out = nullptr;
        return CUDA_SUCCESS;
    });
}

} // namespace

SIMGPU_RUNTIME cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned int flags)
{
    return allocate_pinned(pHost, size, flags);
}

// NVIDIA's runtime does not use cuMemAllocHost: pinned memory always comes from cuMemHostAlloc.
SIMGPU_RUNTIME cudaError_t cudaMallocHost(void** ptr, size_t size)
{
    return allocate_pinned(ptr, size, 0);
}

SIMGPU_RUNTIME cudaError_t cudaFreeHost(void* ptr)
{
    return enter([&](const Driver& driver) -> CUresult {
        return ptr ? driver.cuMemFreeHost(ptr) : CUDA_SUCCESS;
    });
}

namespace {

// As in NVIDIA's runtime, the first stream-ordered allocation is tried without making a context,
// and again with one if that fails.
template <class Allocate>
cudaError_t allocate_async(void** devPtr, size_t size, Allocate allocate)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        if (!devPtr)
            return CUDA_ERROR_INVALID_VALUE;
        CUdeviceptr address = 0;
        CUresult result = CUDA_SUCCESS;
        if (size != 0) {
            result = allocate(driver, address);
            if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
                result = ensure_context(driver);
                if (result == CUDA_SUCCESS)
                    result = allocate(driver, address);
            }
        }
        *devPtr = reinterpret_cast<void*>(address);
        return result;
    });
}

} // namespace

SIMGPU_RUNTIME cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t stream)
{
    return allocate_async(devPtr, size, [&](const Driver& driver, CUdeviceptr& address) {
        return driver.legacy.cuMemAllocAsync(&address, size, stream);
    });
}

SIMGPU_RUNTIME cudaError_t cudaMallocAsync_ptsz(void** devPtr, size_t size, cudaStream_t stream);
SIMGPU_RUNTIME cudaError_t cudaMallocAsync_ptsz(void** devPtr, size_t size, cudaStream_t stream)
{
    return allocate_async(devPtr, size, [&](const Driver& driver, CUdeviceptr& address) {
        return driver.per_thread.cuMemAllocAsync(&address, size, stream);
    });
}

SIMGPU_RUNTIME cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool,
                                                   cudaStream_t stream)
{
    return allocate_async(ptr, size, [&](const Driver& driver, CUdeviceptr& address) {
        return driver.legacy.cuMemAllocFromPoolAsync(&address, size, memPool, stream);
    });
}

SIMGPU_RUNTIME cudaError_t cudaMallocFromPoolAsync_ptsz(void** ptr, size_t size,
                                                        cudaMemPool_t memPool, cudaStream_t stream);
SIMGPU_RUNTIME cudaError_t cudaMallocFromPoolAsync_ptsz(void** ptr, size_t size,
                                                        cudaMemPool_t memPool, cudaStream_t stream)
{
    return allocate_async(ptr, size, [&](const Driver& driver, CUdeviceptr& address) {
        return driver.per_thread.cuMemAllocFromPoolAsync(&address, size, memPool, stream);
    });
}

SIMGPU_STREAM_FUNCTION(cudaFreeAsync, _ptsz, (void* devPtr, cudaStream_t hStream), {
    return devPtr ? calls.cuMemFreeAsync(address_of(devPtr), hStream) : CUDA_SUCCESS;
})
