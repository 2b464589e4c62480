// tools/simgpu/driver/pool_api.cpp — cuMemAllocAsync, cuMemFreeAsync, cuMemPool*.
#include "tools/simgpu/driver/graph.hpp"
#include "tools/simgpu/driver/pool.hpp"
#include "tools/simgpu/driver/share.hpp"

#include "api.hpp"

#include <cstring>
#include <unistd.h>

namespace simgpu {
namespace {

// The pool that cuMemAllocAsync means, for each device.
std::map<Device*, Pool*>& chosen_pools()
{
    static auto* all = new std::map<Device*, Pool*>;
    return *all;
}

Pool* chosen_pool(Device& device)
{
    Pool* const fallback = default_pool(device);
    const std::lock_guard lock(memory_mutex());
    const auto chosen = chosen_pools().find(&device);
    return chosen == chosen_pools().end() ? fallback : chosen->second;
}

Pool* living_pool(CUmemoryPool handle)
{
    Pool* pool = pools().find(handle);
    return pool && !pool->destroyed ? pool : nullptr;
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes, Pool* pool, CUstream handle)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    if (!address || bytes == 0 || (pool && pool->import_file >= 0))
        return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (const CUresult error = resolve_stream(handle, *context, stream))
        return error;
    if (!pool)
        pool = chosen_pool(*stream->context->device);
    if (const auto captured = allocate_in_capture(*stream, *pool->device, bytes, *address))
        return *captured;
    const std::lock_guard lock(memory_mutex());
    const std::uintptr_t start = take_from_pool_locked(*pool, bytes, *stream);
    if (!start)
        return CUDA_ERROR_OUT_OF_MEMORY;
    Allocation allocation;
    allocation.start = start;
    allocation.bytes = bytes;
    allocation.kind = Kind::pooled;
    allocation.device = pool->device;
    allocation.pool = pool;
    allocation.stream_id = stream->id;
    add_allocation_locked(allocation);
    *address = start;
    return CUDA_SUCCESS;
}

bool freed_in_stream_order(const Allocation& allocation)
{
    const Kind kind = allocation.kind;
    if (allocation.free_queued)
        return false;
    if (kind == Kind::graph)
        return callers_may_free_graph_memory_locked(allocation.start);
    return kind == Kind::pooled || kind == Kind::device || kind == Kind::pool_import;
}

struct PoolPointer { // what CUmemPoolPtrExportData carries
    std::uint64_t magic;
    std::uint64_t offset;
    std::uint64_t bytes;
};
constexpr std::uint64_t kPoolPointerMagic = 0x6c6f6f70756d6973; // "simupool"

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

} // namespace

namespace api {

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, nullptr, hStream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream)
{
    Pool* const from = living_pool(pool);
    return from ? allocate(dptr, bytesize, from, hStream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    Stream* stream = nullptr;
    if (const CUresult error = resolve_stream(hStream, *context, stream))
        return error;
    if (dptr == 0)
        return CUDA_SUCCESS;
    if (const auto captured = free_in_capture(*stream, dptr))
        return *captured;
    std::uint64_t id = 0;
    Kind kind = Kind::pooled;
    {
        const std::lock_guard lock(memory_mutex());
        Allocation* const allocation = allocation_at_locked(dptr);
        if (!allocation || !freed_in_stream_order(*allocation))
            return CUDA_ERROR_INVALID_VALUE;
        allocation->free_queued = true;
        id = allocation->id;
        kind = allocation->kind;
    }
    Work work;
    if (kind != Kind::pooled)
        work.run = [dptr, id] {
            const std::lock_guard lock(memory_mutex());
            Allocation* const allocation = allocation_at_locked(dptr);
            if (allocation && allocation->id == id)
                drop_allocation_locked(*allocation);
            return CUDA_SUCCESS;
        };
    // For pooled memory the work does nothing: the bytes are free for others when its place has
    // been reached.
    const Mark freed = enqueue(*stream, std::move(work));
    if (kind != Kind::pooled)
        return CUDA_SUCCESS;
    const std::lock_guard lock(memory_mutex());
    Allocation* const allocation = allocation_at_locked(dptr);
    if (!allocation || allocation->id != id) // another thread was first
        return CUDA_ERROR_INVALID_VALUE;
    const Allocation gone = *allocation;
    allocations_locked().erase(dptr);
    give_to_pool_locked(gone, freed);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps)
{
    if (!pool || !poolProps || poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    const bool shared = poolProps->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE && !shared)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    Device* device = device_at(poolProps->location.id);
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    Pool* made = pools().make();
    made->device = device;
    made->is_default = false;
    made->exportable = shared;
    made->destroyed = false;
    made->release_threshold = 0;
    made->reuse_options.clear();
    made->access.clear();
    made->used = made->reserved = made->used_high = made->reserved_high = 0;
    made->import_file = -1;
    *pool = reinterpret_cast<CUmemoryPool>(made);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    Pool* found = living_pool(pool);
    if (!found || found->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    for (auto chosen = chosen_pools().begin(); chosen != chosen_pools().end();)
        chosen = chosen->second == found ? chosen_pools().erase(chosen) : std::next(chosen);
    if (found->import_file >= 0)
        close(found->import_file);
    found->destroyed = true;
    trim_pool_locked(*found, 0);
    if (found->segments.empty() && found->pending.empty())
        pools().retire(found);
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
    if (is_reuse_option(attr)) { // an int; the counters are 64 bits
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
    if (!found || !flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !device_at(location->id))
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const auto set = found->access.find(location->id);
    *flags = set != found->access.end()                 ? set->second
             : found->device->ordinal() == location->id ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                        : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev)
{
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!pool_out)
        return CUDA_ERROR_INVALID_VALUE;
    *pool_out = reinterpret_cast<CUmemoryPool>(default_pool(*device));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev)
{
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = reinterpret_cast<CUmemoryPool>(chosen_pool(*device));
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    Device* device = device_at(dev);
    Pool* found = living_pool(pool);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!found || found->device != device || found->import_file >= 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    chosen_pools()[device] = found;
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000
// Device pools by location; host and managed pools are not simulated.
static CUresult device_of_location(const CUmemLocation* location, CUmemAllocationType type,
                                   CUdevice& device)
{
    if (!location)
        return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_NOT_SUPPORTED;
    device = location->id;
    return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location,
                                CUmemAllocationType type)
{
    CUdevice device = 0;
    const CUresult error = device_of_location(location, type, device);
    return error != CUDA_SUCCESS ? error : api::cuDeviceGetDefaultMemPool(pool_out, device);
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type)
{
    CUdevice device = 0;
    const CUresult error = device_of_location(location, type, device);
    return error != CUDA_SUCCESS ? error : api::cuDeviceGetMemPool(pool, device);
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUdevice device = 0;
    const CUresult error = device_of_location(location, type, device);
    return error != CUDA_SUCCESS ? error : api::cuDeviceSetMemPool(device, pool);
}
#endif

CUresult cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool pool,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags)
{
    Pool* found = living_pool(pool);
    if (!found || !found->exportable || !handle_out || flags != 0 ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    return duplicate_file(found->device->file(), *static_cast<int*>(handle_out));
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle,
                                            CUmemAllocationHandleType handleType,
                                            unsigned long long flags)
{
    if (!pool_out || flags != 0 || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    const int given = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
    Device* device = device_of_file(given);
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal()};
    int file = -1;
    if (const CUresult error = duplicate_file(given, file))
        return error;
    const CUresult result = api::cuMemPoolCreate(pool_out, &properties);
    if (result == CUDA_SUCCESS)
        living_pool(*pool_out)->import_file = file;
    else
        close(file);
    return result;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr)
{
    if (!shareData_out)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = allocation_at_locked(ptr);
    if (!allocation || allocation->kind != Kind::pooled || !allocation->pool->exportable)
        return CUDA_ERROR_INVALID_VALUE;
    const PoolPointer data{kPoolPointerMagic, ptr - allocation->device->window(),
                           allocation->bytes};
    std::memset(shareData_out, 0, sizeof *shareData_out);
    std::memcpy(shareData_out, &data, sizeof data);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool,
                                CUmemPoolPtrExportData* shareData)
{
    Pool* found = living_pool(pool);
    PoolPointer data{};
    if (!ptr_out || !found || found->import_file < 0 || !shareData)
        return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(&data, shareData, sizeof data);
    if (data.magic != kPoolPointerMagic)
        return CUDA_ERROR_INVALID_VALUE;
    return map_foreign(found->import_file, data.offset, data.bytes, Kind::pool_import,
                       *found->device, nullptr, *ptr_out);
}

} // namespace api
} // namespace simgpu
