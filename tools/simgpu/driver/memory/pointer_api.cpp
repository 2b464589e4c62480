// tools/simgpu/driver/memory/pointer_api.cpp — cuPointerGetAttribute(s), cuPointerSetAttribute.
//
// An unknown pointer is an error for the form that asks for one attribute. The form for several
// answers that nothing is known.
#include "api.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"

namespace simgpu {
namespace {

bool is_host(const Allocation& allocation)
{
    return allocation.kind == Kind::host || allocation.kind == Kind::registered ||
           (allocation.kind == Kind::pooled && is_host_memory(*allocation.pool));
}

bool is_managed(const Allocation& allocation)
{
    return allocation.kind == Kind::managed ||
           (allocation.kind == Kind::pooled && is_managed_memory(*allocation.pool));
}

template <class T>
CUresult answer(void* data, T value)
{
    *static_cast<T*>(data) = value;
    return CUDA_SUCCESS;
}

// `allocation` is null for an unknown pointer.
CUresult get(void* data, CUpointer_attribute attribute, CUdeviceptr pointer,
             const Allocation* allocation)
{
    const bool known = allocation != nullptr;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return answer(data, known ? reinterpret_cast<CUcontext>(allocation->context) : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return answer<unsigned>(data, !known                 ? 0
                                      : is_host(*allocation) ? CU_MEMORYTYPE_HOST
                                                             : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return answer<CUdeviceptr>(data, known ? pointer : 0);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return answer<void*>(data, known && (is_host(*allocation) || is_managed(*allocation))
                                       ? reinterpret_cast<void*>(pointer)
                                       : nullptr);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return answer<unsigned char>(data, known && is_managed(*allocation));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return answer<int>(data, known && allocation->device ? allocation->device->ordinal() : -2);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return answer<unsigned long long>(data, known ? allocation->id : 0);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return answer<unsigned>(data, known && allocation->sync_memops);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return answer<unsigned char>(data, known && allocation->kind == Kind::device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return answer<CUdeviceptr>(data, known ? allocation->start : 0);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return answer<size_t>(data, known ? allocation->bytes : 0);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return answer<unsigned char>(data, known);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return answer<unsigned long long>(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return answer<unsigned>(data, known ? allocation->access : 0);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return answer(data, known ? reinterpret_cast<CUmemoryPool>(allocation->pool) : nullptr);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

} // namespace

namespace api {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(ptr);
    return allocation ? get(data, attribute, ptr, allocation) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes,
                                void** data, CUdeviceptr ptr)
{
    if (numAttributes == 0 || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(ptr);
    for (unsigned index = 0; index < numAttributes; ++index)
        if (const CUresult error = get(data[index], attributes[index], ptr, allocation))
            return error;
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    Allocation* const allocation = find_allocation_locked(ptr);
    if (!allocation)
        return CUDA_ERROR_INVALID_VALUE;
    allocation->sync_memops = *static_cast<const unsigned*>(value) != 0;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
