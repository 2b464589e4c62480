// tools/simgpu/runtime/sharing.cpp — pointers, peers, other processes, managed memory.
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

SIMGPU_RUNTIME cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice)
{
    return call_without_context(&Driver::cuDeviceCanAccessPeer, canAccessPeer, device, peerDevice);
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

SIMGPU_RUNTIME cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr)
{
    return call(&Driver::cuIpcGetMemHandle, reinterpret_cast<CUipcMemHandle*>(handle),
                address_of(devPtr));
}

SIMGPU_RUNTIME cudaError_t cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle,
                                                unsigned int flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUipcMemHandle same;
        static_assert(sizeof same == sizeof handle);
        std::memcpy(&same, &handle, sizeof same);
        return driver.cuIpcOpenMemHandle(reinterpret_cast<CUdeviceptr*>(devPtr), same, flags);
    });
}

SIMGPU_RUNTIME cudaError_t cudaIpcCloseMemHandle(void* devPtr)
{
    return call(&Driver::cuIpcCloseMemHandle, address_of(devPtr));
}

SIMGPU_RUNTIME cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event)
{
    static_assert(sizeof *handle == sizeof(CUipcEventHandle));
    return call(&Driver::cuIpcGetEventHandle, reinterpret_cast<CUipcEventHandle*>(handle), event);
}

SIMGPU_RUNTIME cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUipcEventHandle same;
        std::memcpy(&same, &handle, sizeof same);
        return driver.cuIpcOpenEventHandle(event, same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attr,
                                                     int srcDevice, int dstDevice)
{
    return call_without_context(&Driver::cuDeviceGetP2PAttribute, value,
                                static_cast<CUdevice_P2PAttribute>(attr), srcDevice, dstDevice);
}

SIMGPU_RUNTIME cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataSize,
                                                    cudaMemRangeAttribute attribute,
                                                    const void* devPtr, size_t count)
{
    return call(&Driver::cuMemRangeGetAttribute, data, dataSize,
                static_cast<CUmem_range_attribute>(attribute), address_of(devPtr), count);
}

#if CUDA_VERSION < 13000
SIMGPU_RUNTIME cudaError_t cudaMemAdvise(const void* devPtr, size_t count, cudaMemoryAdvise advice,
                                         int device)
{
    return call(&Driver::cuMemAdvise, address_of(devPtr), count, static_cast<CUmem_advise>(advice),
                device);
}

SIMGPU_STREAM_FUNCTION(cudaMemPrefetchAsync, _ptsz,
                       (const void* devPtr, size_t count, int dstDevice, cudaStream_t stream), {
                           return calls.cuMemPrefetchAsync(address_of(devPtr), count, dstDevice,
                                                           stream);
                       })
#else
namespace {

// The driver's first form names a device, or CU_DEVICE_CPU.
CUdevice device_of(cudaMemLocation location)
{
    return location.type == cudaMemLocationTypeDevice ? location.id : CU_DEVICE_CPU;
}

} // namespace

SIMGPU_RUNTIME cudaError_t cudaMemAdvise(const void* devPtr, size_t count, cudaMemoryAdvise advice,
                                         cudaMemLocation location)
{
    return call(&Driver::cuMemAdvise, address_of(devPtr), count, static_cast<CUmem_advise>(advice),
                device_of(location));
}

SIMGPU_STREAM_FUNCTION(cudaMemPrefetchAsync, _ptsz,
                       (const void* devPtr, size_t count, cudaMemLocation location,
                        unsigned int flags, cudaStream_t stream),
                       {
                           if (flags != 0)
                               return CUDA_ERROR_INVALID_VALUE;
                           return calls.cuMemPrefetchAsync(address_of(devPtr), count,
                                                           device_of(location), stream);
                       })
#endif
