// tools/simgpu/driver/memory/multicast_api.cpp — one address for memory of several devices.
//
// What is bound is counted and kept. Stores through a multicast address stay in the object's own
// file and do not reach the devices. Where a device would wait until its team is complete, the
// answer is CUDA_ERROR_ILLEGAL_STATE.
#include <algorithm>
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/physical.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"
#include "tools/simgpu/driver/share/share.hpp"

namespace simgpu {

CUmemGenericAllocationHandle make_multicast(int file, unsigned team, bool shareable,
                                            std::size_t bytes)
{
    Physical* const made = make_physical({}, nullptr, bytes);
    made->file = file;
    made->multicast = std::make_unique<Multicast>();
    made->multicast->team = team;
    made->multicast->shareable = shareable;
    return handle_of(made);
}

void unbind_all(Multicast& multicast)
{
    for (const Binding& binding : multicast.bindings)
        if (binding.memory) {
            --binding.memory->uses;
            release_if_unused(*binding.memory);
        }
    multicast.bindings.clear();
}

#if CUDA_VERSION >= 12010
namespace {

constexpr unsigned kLargestTeam = 128;

CUresult check(const CUmulticastObjectProp* properties)
{
    if (!properties || properties->numDevices == 0 || properties->flags != 0 ||
        properties->size == 0 || !block_multiple(properties->size))
        return CUDA_ERROR_INVALID_VALUE;
    const auto types = properties->handleTypes;
    if (types != CU_MEM_HANDLE_TYPE_NONE && types != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    const auto most = types == CU_MEM_HANDLE_TYPE_NONE ? devices().size() : kLargestTeam;
    return properties->numDevices <= most ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

Physical* object_of(CUmemGenericAllocationHandle handle)
{
    Physical* const physical = physical_of(handle);
    return physical && physical->multicast ? physical : nullptr;
}

bool inside(std::size_t offset, std::size_t bytes, std::size_t whole)
{
    return offset <= whole && bytes <= whole - offset;
}

CUresult bind(Physical& object, const Binding& binding)
{
    Multicast& multicast = *object.multicast;
    if (!multicast.devices.contains(binding.device))
        return CUDA_ERROR_INVALID_DEVICE;
    const bool taken = std::any_of(multicast.bindings.begin(), multicast.bindings.end(),
                                   [&binding](const Binding& other) {
                                       return other.device == binding.device &&
                                              other.offset < binding.offset + binding.bytes &&
                                              binding.offset < other.offset + other.bytes;
                                   });
    if (taken)
        return CUDA_ERROR_INVALID_VALUE;
    multicast.bindings.push_back(binding);
    if (binding.memory)
        ++binding.memory->uses;
    return CUDA_SUCCESS;
}

// What both ways to bind check about the object.
CUresult check_bind(const Physical* object, std::size_t offset, std::size_t bytes,
                    unsigned long long flags)
{
    if (!object || flags != 0 || bytes == 0 || !block_multiple(offset) || !block_multiple(bytes) ||
        !inside(offset, bytes, object->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return object->multicast->complete() ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

// Finds the memory of a whole range: mapped from one piece, or one allocation of a pool.
bool find_memory_locked(CUdeviceptr address, std::size_t bytes, bool shareable, Binding& binding)
{
    const Allocation* const allocation = find_allocation_locked(address);
    if (!allocation || !inside(address - allocation->start, bytes, allocation->bytes))
        return false;
    Physical* const physical = physical_at_locked(address);
    binding.device = allocation->device;
    binding.memory = physical;
    if (physical)
        return !physical->multicast && (!shareable || physical->file >= 0);
    return allocation->kind == Kind::pooled && (!shareable || allocation->pool->exportable);
}

} // namespace

namespace api {

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* mcHandle,
                           const CUmulticastObjectProp* prop)
{
    if (!mcHandle)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check(prop))
        return error;
    const int file = make_multicast_file(prop->numDevices, prop->size);
    if (file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const std::lock_guard lock(memory_mutex());
    const bool shareable = prop->handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    *mcHandle = make_multicast(file, prop->numDevices, shareable, prop->size);
    return CUDA_SUCCESS;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev)
{
    const std::lock_guard lock(memory_mutex());
    Physical* const object = object_of(mcHandle);
    Device* const device = device_at(dev);
    if (!object)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    Multicast& multicast = *object->multicast;
    if (multicast.devices.size() == multicast.team || !multicast.devices.insert(device).second)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                            CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                            unsigned long long flags)
{
    const std::lock_guard lock(memory_mutex());
    Physical* const object = object_of(mcHandle);
    Physical* const memory = physical_of(memHandle);
    if (!memory || memory->multicast || !block_multiple(memOffset) ||
        !inside(memOffset, size, memory->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_bind(object, mcOffset, size, flags))
        return error;
    if (object->multicast->shareable && memory->file < 0)
        return CUDA_ERROR_INVALID_VALUE;
    return bind(*object, {mcOffset, size, memory->device, memory});
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                             CUdeviceptr memptr, size_t size, unsigned long long flags)
{
    const std::lock_guard lock(memory_mutex());
    Physical* const object = object_of(mcHandle);
    if (const CUresult error = check_bind(object, mcOffset, size, flags))
        return error;
    Binding binding{mcOffset, size, nullptr, nullptr};
    if (!block_multiple(memptr) ||
        !find_memory_locked(memptr, size, object->multicast->shareable, binding))
        return CUDA_ERROR_INVALID_VALUE;
    return bind(*object, binding);
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
                           size_t size)
{
    const std::lock_guard lock(memory_mutex());
    Physical* const object = object_of(mcHandle);
    const Device* const device = device_at(dev);
    if (!object)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    auto& bindings = object->multicast->bindings;
    const auto found = std::find_if(bindings.begin(), bindings.end(), [&](const Binding& binding) {
        return binding.device == device && binding.offset == mcOffset && binding.bytes == size;
    });
    if (found == bindings.end())
        return CUDA_ERROR_INVALID_VALUE;
    Physical* const memory = found->memory;
    bindings.erase(found);
    if (memory) {
        --memory->uses;
        release_if_unused(*memory);
    }
    return CUDA_SUCCESS;
}

CUresult cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* prop,
                                   CUmulticastGranularity_flags option)
{
    if (!granularity || !prop || prop->numDevices == 0 || prop->flags != 0 ||
        (option != CU_MULTICAST_GRANULARITY_MINIMUM &&
         option != CU_MULTICAST_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = kBlockBytes;
    return CUDA_SUCCESS;
}

} // namespace api
#endif

} // namespace simgpu
