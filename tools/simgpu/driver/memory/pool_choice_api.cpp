// tools/simgpu/driver/memory/pool_choice_api.cpp — the default and the current pool of each place.
#include "api.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"

namespace simgpu {
namespace {

// At places without an entry the default pool is the current one. Under memory_mutex().
std::map<PoolPlace, Pool*>& current_pools()
{
    static auto* all = new std::map<PoolPlace, Pool*>;
    return *all;
}

CUresult tell_pool(CUmemoryPool* out, Pool* pool)
{
    *out = reinterpret_cast<CUmemoryPool>(pool);
    return CUDA_SUCCESS;
}

CUresult choose(const PoolPlace& place, CUmemoryPool handle)
{
    Pool* const pool = living_pool(handle);
    if (!pool || pool->place != place || pool->import_file >= 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    current_pools()[place] = pool;
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000
CUresult place_if_given(CUmemLocation* location, CUmemAllocationType type, PoolPlace& place)
{
    return location ? place_of(type, *location, place) : CUDA_ERROR_INVALID_VALUE;
}
#endif

} // namespace

CUresult place_of(CUmemAllocationType type, const CUmemLocation& location, PoolPlace& place)
{
    place = {type, location.type, 0};
#if CUDA_VERSION >= 13000
    const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
#else
    const bool managed = false;
#endif
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED && !managed)
        return CUDA_ERROR_INVALID_VALUE;
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        place.id = location.id;
        return device_at(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    }
#if CUDA_VERSION >= 13000
    if (location.type == CU_MEM_LOCATION_TYPE_HOST ||
        (location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA &&
         location.id == 0) || // there is one node
        (location.type == CU_MEM_LOCATION_TYPE_NONE && managed))
        return CUDA_SUCCESS;
#endif
    return CUDA_ERROR_INVALID_VALUE;
}

PoolPlace place_of(const Device& device)
{
    return {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
}

Pool* default_pool(const PoolPlace& place)
{
    static auto* mutex = new std::mutex;
    static auto* all = new std::map<PoolPlace, Pool*>;
    const std::lock_guard lock(*mutex);
    Pool*& pool = (*all)[place];
    if (!pool) {
        pool = open_pool(place);
        pool->is_default = true;
    }
    return pool;
}

Pool* current_pool(const PoolPlace& place)
{
    Pool* const fallback = default_pool(place);
    const std::lock_guard lock(memory_mutex());
    const auto chosen = current_pools().find(place);
    return chosen == current_pools().end() ? fallback : chosen->second;
}

void forget_current_pool_locked(const Pool& pool)
{
    const auto chosen = current_pools().find(pool.place);
    if (chosen != current_pools().end() && chosen->second == &pool)
        current_pools().erase(chosen);
}

namespace api {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev)
{
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    return pool_out ? tell_pool(pool_out, default_pool(place_of(*device)))
                    : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev)
{
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    return pool ? tell_pool(pool, current_pool(place_of(*device))) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    Device* device = device_at(dev);
    return device ? choose(place_of(*device), pool) : CUDA_ERROR_INVALID_DEVICE;
}

#if CUDA_VERSION >= 13000
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location,
                                CUmemAllocationType type)
{
    PoolPlace place;
    if (const CUresult error = place_if_given(location, type, place))
        return error;
    return pool_out ? tell_pool(pool_out, default_pool(place)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type)
{
    PoolPlace place;
    if (const CUresult error = place_if_given(location, type, place))
        return error;
    return pool ? tell_pool(pool, current_pool(place)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool)
{
    PoolPlace place;
    const CUresult error = place_if_given(location, type, place);
    return error != CUDA_SUCCESS ? error : choose(place, pool);
}
#endif

} // namespace api
} // namespace simgpu
