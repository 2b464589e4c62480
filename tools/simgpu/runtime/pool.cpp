// tools/simgpu/runtime/pool.cpp — cudaMemPool*, and a device's pools.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaMemPoolCreate(cudaMemPool_t* memPool,
                                             const cudaMemPoolProps* poolProps)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!poolProps)
            return CUDA_ERROR_INVALID_VALUE;
        CUmemPoolProps same{};
        same.allocType = static_cast<CUmemAllocationType>(poolProps->allocType);
        same.handleTypes = static_cast<CUmemAllocationHandleType>(poolProps->handleTypes);
        same.location.type = static_cast<CUmemLocationType>(poolProps->location.type);
        same.location.id = poolProps->location.id;
        return driver.cuMemPoolCreate(memPool, &same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    return call(&Driver::cuMemPoolDestroy, memPool);
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    return call(&Driver::cuMemPoolTrimTo, memPool, minBytesToKeep);
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr,
                                                   void* value)
{
    return call(&Driver::cuMemPoolSetAttribute, memPool, static_cast<CUmemPool_attribute>(attr),
                value);
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr,
                                                   void* value)
{
    return call(&Driver::cuMemPoolGetAttribute, memPool, static_cast<CUmemPool_attribute>(attr),
                value);
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool,
                                                const cudaMemAccessDesc* descList, size_t count)
{
    return call(&Driver::cuMemPoolSetAccess, memPool,
                reinterpret_cast<const CUmemAccessDesc*>(descList), count);
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t memPool,
                                                cudaMemLocation* location)
{
    return call(&Driver::cuMemPoolGetAccess, reinterpret_cast<CUmemAccess_flags*>(flags), memPool,
                reinterpret_cast<CUmemLocation*>(location));
}

SIMGPU_RUNTIME cudaError_t
cudaMemPoolExportToShareableHandle(void* shareableHandle, cudaMemPool_t memPool,
                                   cudaMemAllocationHandleType handleType, unsigned int flags)
{
    return call(&Driver::cuMemPoolExportToShareableHandle, shareableHandle, memPool,
                static_cast<CUmemAllocationHandleType>(handleType), flags);
}

SIMGPU_RUNTIME cudaError_t
cudaMemPoolImportFromShareableHandle(cudaMemPool_t* memPool, void* shareableHandle,
                                     cudaMemAllocationHandleType handleType, unsigned int flags)
{
    return call(&Driver::cuMemPoolImportFromShareableHandle, memPool, shareableHandle,
                static_cast<CUmemAllocationHandleType>(handleType), flags);
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* exportData, void* ptr)
{
    return call(&Driver::cuMemPoolExportPointer,
                reinterpret_cast<CUmemPoolPtrExportData*>(exportData), address_of(ptr));
}

SIMGPU_RUNTIME cudaError_t cudaMemPoolImportPointer(void** ptr, cudaMemPool_t memPool,
                                                    cudaMemPoolPtrExportData* exportData)
{
    return call(&Driver::cuMemPoolImportPointer, reinterpret_cast<CUdeviceptr*>(ptr), memPool,
                reinterpret_cast<CUmemPoolPtrExportData*>(exportData));
}

SIMGPU_RUNTIME cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device)
{
    return call_without_context(&Driver::cuDeviceGetDefaultMemPool, memPool, device);
}

SIMGPU_RUNTIME cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device)
{
    return call_without_context(&Driver::cuDeviceGetMemPool, memPool, device);
}

SIMGPU_RUNTIME cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    return call_without_context(&Driver::cuDeviceSetMemPool, device, memPool);
}
