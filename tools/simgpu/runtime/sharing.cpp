// tools/simgpu/runtime/sharing.cpp — pointers, peers, managed memory.
#include <cstring>

#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                    const void* ptr)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!attributes)
            return CUDA_ERROR_INVALID_VALUE;
        unsigned type = 0;
        int device = -2;
        unsigned char managed = 0;
        CUdeviceptr device_pointer = 0;
        void* host_pointer = nullptr;
        CUpointer_attribute wanted[] = {
            CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
            CU_POINTER_ATTRIBUTE_HOST_POINTER};
        void* answers[] = {&type, &device, &managed, &device_pointer, &host_pointer};
        if (const CUresult error =
                driver.cuPointerGetAttributes(5, wanted, answers, address_of(ptr)))
            return error;
        std::memset(attributes, 0, sizeof *attributes);
        attributes->type = managed                        ? cudaMemoryTypeManaged
                           : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                           : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                                          : cudaMemoryTypeUnregistered;
        attributes->device = type == 0 ? -1 : device;
        attributes->devicePointer = reinterpret_cast<void*>(device_pointer);
        attributes->hostPointer = type == 0 ? const_cast<void*>(ptr) : host_pointer;
        return CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUcontext peer = nullptr;
        const CUresult error = primary_context(driver, peerDevice, peer);
        return error != CUDA_SUCCESS ? error : driver.cuCtxEnablePeerAccess(peer, flags);
    });
}

SIMGPU_RUNTIME cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUcontext peer = nullptr;
        const CUresult error = primary_context(driver, peerDevice, peer);
        return error != CUDA_SUCCESS ? error : driver.cuCtxDisablePeerAccess(peer);
    });
}

#if CUDART_VERSION >= 12020
namespace {

// The driver's first form names a device, or CU_DEVICE_CPU.
CUdevice device_of(cudaMemLocation location)
{
    return location.type == cudaMemLocationTypeDevice ? location.id : CU_DEVICE_CPU;
}

} // namespace

SIMGPU_RUNTIME cudaError_t SIMGPU_NEWEST(cudaMemAdvise, _v2)(const void* devPtr, size_t count,
                                                             cudaMemoryAdvise advice,
                                                             cudaMemLocation location)
{
    return call(&Driver::cuMemAdvise, address_of(devPtr), count, static_cast<CUmem_advise>(advice),
                device_of(location));
}

SIMGPU_STREAM_FUNCTION(SIMGPU_NEWEST(cudaMemPrefetchAsync, _v2), _ptsz,
                       (const void* devPtr, size_t count, cudaMemLocation location,
                        unsigned int flags, cudaStream_t stream),
                       {
                           if (flags != 0)
                               return CUDA_ERROR_INVALID_VALUE;
                           return calls.cuMemPrefetchAsync(address_of(devPtr), count,
                                                           device_of(location), stream);
                       })
#endif
