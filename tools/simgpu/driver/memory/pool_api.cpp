// tools/simgpu/driver/memory/pool_api.cpp — cuMemPool*: life, trimming, attributes, access.
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"

namespace simgpu {
namespace {

std::uint64_t* counter_of(Pool& pool, CUmemPool_attribute attribute)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return &pool.release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        return &pool.reserved;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return &pool.reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return &pool.used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return &pool.used_high;
    default:
        return nullptr;
    }
}

bool is_reuse_option(CUmemPool_attribute attribute)
{
    return attribute == CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
           attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC ||
           attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUresult check_handle_types(const PoolPlace& place, CUmemAllocationHandleType types)
{
    if (types == CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_SUCCESS;
    const bool on_device =
        place.type == CU_MEM_ALLOCATION_TYPE_PINNED && place.where == CU_MEM_LOCATION_TYPE_DEVICE;
    if (!on_device)
        return CUDA_ERROR_INVALID_VALUE;
    return types == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? CUDA_SUCCESS
                                                             : CUDA_ERROR_NOT_SUPPORTED;
}

// What a device or the host may do with a pool's memory if nothing was set.
CUmemAccess_flags own_access(const Pool& pool, const CUmemLocation& location)
{
    const bool at_home =
        is_managed_memory(pool) ||
        (pool.place.where == CU_MEM_LOCATION_TYPE_DEVICE
             ? location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == pool.place.id
             : location.type != CU_MEM_LOCATION_TYPE_DEVICE);
    return at_home ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

bool can_access(const CUmemLocation& location)
{
#if CUDA_VERSION >= 13000
    if (location.type == CU_MEM_LOCATION_TYPE_HOST)
        return true;
#endif
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_at(location.id);
}

} // namespace

namespace api {

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps)
{
    if (!pool || !poolProps)
        return CUDA_ERROR_INVALID_VALUE;
    PoolPlace place;
    if (place_of(poolProps->allocType, poolProps->location, place) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_handle_types(place, poolProps->handleTypes))
        return error;
    Pool* const made = open_pool(place);
    made->exportable = poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE;
#if CUDA_VERSION >= 12030
    if (poolProps->maxSize > 0)
        made->most_bytes = poolProps->maxSize;
#endif
    *pool = reinterpret_cast<CUmemoryPool>(made);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    Pool* found = living_pool(pool);
    if (!found || found->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    forget_current_pool_locked(*found);
    if (found->import_file >= 0)
        close(found->import_file);
    found->destroyed = true;
    close_pool_if_unused_locked(*found);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    Pool* found = living_pool(pool);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    trim_pool_locked(*found, minBytesToKeep);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value)
{
    Pool* found = living_pool(pool);
    if (!found || !value)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    if (is_reuse_option(attr)) {
        found->reuse_options[attr] = *static_cast<int*>(value);
        return CUDA_SUCCESS;
    }
    const auto wanted = *static_cast<std::uint64_t*>(value);
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        found->release_threshold = wanted;
    else if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && wanted == 0)
        found->reserved_high = found->reserved;
    else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH && wanted == 0)
        found->used_high = found->used;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value)
{
    Pool* found = living_pool(pool);
    if (!found || !value)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    if (is_reuse_option(attr)) { // an int, where the counters have 64 bits
        const auto set = found->reuse_options.find(attr);
        *static_cast<int*>(value) = set == found->reuse_options.end() ? 1 : set->second;
        return CUDA_SUCCESS;
    }
    const std::uint64_t* counter = counter_of(*found, attr);
    if (!counter)
        return CUDA_ERROR_INVALID_VALUE;
    *static_cast<std::uint64_t*>(value) = *counter;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count)
{
    Pool* found = living_pool(pool);
    if (!found || (count > 0 && !map))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t index = 0; index < count; ++index)
        if (map[index].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            !device_at(map[index].location.id))
            return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(memory_mutex());
    for (size_t index = 0; index < count; ++index)
        found->access[map[index].location.id] = map[index].flags;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location)
{
    Pool* found = living_pool(pool);
    if (!found || !flags || !location || !can_access(*location))
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const auto set = location->type == CU_MEM_LOCATION_TYPE_DEVICE
                         ? found->access.find(location->id)
                         : found->access.end();
    *flags = set != found->access.end() ? set->second : own_access(*found, *location);
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
