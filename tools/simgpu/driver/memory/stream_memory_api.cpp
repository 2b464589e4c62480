// tools/simgpu/driver/memory/stream_memory_api.cpp — cuMemAllocAsync and cuMemFreeAsync.
#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"

namespace simgpu {
namespace {

CUresult allocate_in_stream(Context& context, CUdeviceptr* address, std::size_t bytes, Pool* pool,
                            CUstream handle)
{
    if (!address || (pool && pool->import_file >= 0))
        return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (const CUresult error = resolve_stream(handle, context, stream))
        return error;
    if (bytes == 0)
        return CUDA_SUCCESS; // a null pointer
    if (!pool)
        pool = current_pool(place_of(*stream->context->device));
    if (!pool->device && capturing(*stream)) // nodes have only device memory
        return CUDA_ERROR_NOT_SUPPORTED;
    if (pool->device)
        if (const auto captured = allocate_in_capture(*stream, *pool->device, bytes, *address))
            return *captured;
    const std::lock_guard lock(memory_mutex());
    const std::uintptr_t start = take_from_pool_locked(*pool, bytes, *stream);
    if (!start)
        return CUDA_ERROR_OUT_OF_MEMORY;
    add_allocation_locked({.start = start,
                           .bytes = bytes,
                           .kind = Kind::pooled,
                           .device = pool->device,
                           .pool = pool});
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

} // namespace

namespace api {

CUresult cuMemAllocAsync(Context& context, CUdeviceptr* dptr, size_t bytesize, CUstream hStream)
{
    return allocate_in_stream(context, dptr, bytesize, nullptr, hStream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream)
{
    Pool* const from = living_pool(pool);
    return from ? in_current_context(allocate_in_stream, dptr, bytesize, from, hStream)
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
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
    // For pooled memory the work does nothing: other streams may use the bytes when its place
    // has been reached.
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

} // namespace api
} // namespace simgpu
