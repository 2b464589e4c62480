// tools/simgpu/driver/memory/physical_api.cpp — cuMemCreate, cuMemRelease and their kin.
#include <algorithm>
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/memory/physical.hpp"
#include "tools/simgpu/driver/share/share.hpp"

namespace simgpu {
namespace {

CUresult check_properties(const CUmemAllocationProp* properties)
{
    if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!device_at(properties->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    const auto types = properties->requestedHandleTypes;
    return types == CU_MEM_HANDLE_TYPE_NONE || types == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace

Physical* physical_of(CUmemGenericAllocationHandle handle)
{
    Physical* const physical = slots<Physical>().find(reinterpret_cast<void*>(handle));
    return physical && physical->handles > 0 ? physical : nullptr;
}

CUmemGenericAllocationHandle handle_of(Physical* physical)
{
    return reinterpret_cast<CUmemGenericAllocationHandle>(physical);
}

Physical* make_physical(const CUmemAllocationProp& properties, Device* device, std::size_t bytes)
{
    Physical* made = slots<Physical>().make();
    made->properties = properties;
    made->device = device;
    made->bytes = bytes;
    made->place = 0;
    made->file = -1;
    made->charged = false;
    made->handles = 1;
    made->uses = 0;
    made->multicast = nullptr;
    return made;
}

void release_if_unused(Physical& physical)
{
    if (physical.handles > 0 || physical.uses > 0)
        return;
    if (physical.file >= 0)
        close(physical.file);
    if (physical.multicast)
        unbind_all(*physical.multicast);
    if (physical.charged && physical.place)
        physical.device->give(physical.place, physical.bytes, true);
    else if (physical.charged)
        physical.device->discharge(physical.bytes);
    slots<Physical>().retire(&physical);
}

namespace api {

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* prop, unsigned long long flags)
{
    if (!handle || flags != 0 || size == 0 || !block_multiple(size))
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_properties(prop))
        return error;
    Device& device = *device_at(prop->location.id);
    const std::lock_guard lock(memory_mutex());
    Physical* made = make_physical(*prop, &device, size);
    made->charged = true;
    if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
        made->charged = device.charge(size);
        made->file = made->charged ? make_memory_file(device, size) : -1;
        if (made->file >= 0) {
            *handle = handle_of(made);
            return CUDA_SUCCESS;
        }
    } else {
        made->place = device.take(std::max(size, kBlockBytes));
        if (made->place) {
            *handle = handle_of(made);
            return CUDA_SUCCESS;
        }
        made->charged = false;
    }
    made->handles = 0;
    release_if_unused(*made);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    const std::lock_guard lock(memory_mutex());
    Physical* physical = physical_of(handle);
    if (!physical)
        return CUDA_ERROR_INVALID_VALUE;
    --physical->handles;
    release_if_unused(*physical);
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr)
{
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    Physical* physical = physical_at_locked(reinterpret_cast<std::uintptr_t>(addr));
    if (!physical)
        return CUDA_ERROR_INVALID_VALUE;
    ++physical->handles;
    *handle = handle_of(physical);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option)
{
    if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_properties(prop))
        return error;
    *granularity = kBlockBytes;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle)
{
    const std::lock_guard lock(memory_mutex());
    const Physical* physical = physical_of(handle);
    if (!prop || !physical || physical->multicast)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = physical->properties;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
