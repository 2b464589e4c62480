// tools/simgpu/driver/memory/memory_api.cpp — cuMemAlloc*, cuMemFree, cuMemGetInfo.
//
// cuMemFree first waits for the context's work, as a driver does, and for work of other contexts
// that uses the memory: memory is never taken away from queued work.
#include <algorithm>
#include <sys/mman.h>

#include "api.hpp"
#include "tools/simgpu/driver/base/narrowed.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"

namespace simgpu {
namespace {

constexpr std::size_t kPitchStep = 512;

// Spends the set time by running: a sleep would be longer by the time that the system takes to
// wake the thread.
void spend(std::chrono::microseconds time)
{
    if (time.count() == 0)
        return;
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

void spend_allocation_time()
{
    static const auto time = allocation_time();
    spend(time);
}

void spend_free_time()
{
    static const auto time = free_time();
    spend(time);
}

void spend_info_time()
{
    static const auto time = info_time();
    spend(time);
}

CUresult allocate(Context& context, std::size_t bytes, bool low, CUdeviceptr* address)
{
    if (!address || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    spend_allocation_time();
    const std::lock_guard lock(memory_mutex());
    Device& device = *context.device;
    const std::uintptr_t start = low ? device.take_low(bytes) : device.take(bytes);
    if (!start)
        return CUDA_ERROR_OUT_OF_MEMORY;
    add_allocation_locked({.start = start, .bytes = bytes, .device = &device, .context = &context});
    *address = start;
    return CUDA_SUCCESS;
}

CUresult allocate_pitched(Context& context, std::size_t width, std::size_t height, unsigned element,
                          bool low, CUdeviceptr* address, std::size_t* pitch)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    if (width == 0 || height == 0 || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    const std::size_t row = round_up(width, kPitchStep);
    if (row < width || row > SIZE_MAX / height)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = allocate(context, row * height, low, address);
    return narrowed(result, pitch, row);
}

bool cuda_free_takes(const Allocation& allocation)
{
    const Kind kind = allocation.kind;
    if (allocation.free_queued)
        return false;
    if (kind == Kind::graph)
        return callers_may_free_graph_memory_locked(allocation.start);
    return kind == Kind::device || kind == Kind::managed || kind == Kind::pooled ||
           kind == Kind::pool_import || kind == Kind::external;
}

// Null: no context is current, and the memory's own will do.
CUresult free(Context* context, CUdeviceptr dptr)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    if (dptr == 0)
        return CUDA_SUCCESS;
    Context* owner = nullptr;
    std::size_t bytes = 0;
    {
        const std::lock_guard lock(memory_mutex());
        const Allocation* allocation = allocation_at_locked(dptr);
        if (!allocation || !cuda_free_takes(*allocation))
            return CUDA_ERROR_INVALID_VALUE;
        owner = allocation->context;
        bytes = allocation->bytes;
    }
    spend_free_time();
    for (Context* const each : {owner, owner != context ? context : nullptr})
        if (each)
            finish_all(*each);
    finish_uses(dptr, bytes); // peers may use it too
    const std::lock_guard lock(memory_mutex());
    Allocation* const allocation = allocation_at_locked(dptr);
    if (!allocation || !cuda_free_takes(*allocation)) // another thread was first
        return CUDA_ERROR_INVALID_VALUE;
    drop_allocation_locked(*allocation);
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuMemAlloc_v2(Context& context, CUdeviceptr* dptr, size_t bytesize)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    return allocate(context, bytesize, false, dptr);
}

CUresult cuMemAlloc(Context& context, CUdeviceptr_v1* dptr, unsigned int bytesize)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    CUdeviceptr address = 0;
    return narrowed(allocate(context, bytesize, true, dptr ? &address : nullptr), dptr, address);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    if (!dptr || !pPitch)
        return CUDA_ERROR_INVALID_VALUE;
    return in_current_context(allocate_pitched, WidthInBytes, Height, ElementSizeBytes, false, dptr,
                              pPitch);
}

CUresult cuMemAllocPitch(CUdeviceptr_v1* dptr, unsigned int* pPitch, unsigned int WidthInBytes,
                         unsigned int Height, unsigned int ElementSizeBytes)
{
    if (!dptr || !pPitch)
        return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address = 0;
    std::size_t pitch = 0;
    const CUresult result = in_current_context(allocate_pitched, WidthInBytes, Height,
                                               ElementSizeBytes, true, &address, &pitch);
    narrowed(result, dptr, address);
    return narrowed(result, pPitch, pitch);
}

CUresult cuMemAllocManaged(Context& context, CUdeviceptr* dptr, size_t bytesize, unsigned int flags)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    if (!dptr || bytesize == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    spend_allocation_time();
    // It is not counted against the device: managed memory may exceed it, and is resident where it
    // was last used.
    void* const pages = mmap(nullptr, bytesize, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const std::lock_guard lock(memory_mutex());
    *dptr = add_allocation_locked({.start = reinterpret_cast<std::uintptr_t>(pages),
                                   .bytes = bytesize,
                                   .kind = Kind::managed,
                                   .flags = flags,
                                   .device = context.device,
                                   .context = &context})
                .start;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr dptr)
{
    Context* context = nullptr;
    const CUresult result = current_context(context);
    return result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_CONTEXT ? free(context, dptr)
                                                                          : result;
}

CUresult cuMemGetInfo_v2(Context& context, size_t* free, size_t* total)
{
    spend_info_time();
    const std::lock_guard lock(memory_mutex());
    Device& device = *context.device;
    if (free)
        *free = device.total_bytes() - device.used_bytes() - device.bytes_of_others();
    if (total)
        *total = device.total_bytes();
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(Context& context, unsigned int* free, unsigned int* total)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    const CUresult result = api::cuMemGetInfo_v2(context, &free_bytes, &total_bytes);
    narrowed(result, free, std::min<size_t>(free_bytes, UINT32_MAX));
    return narrowed(result, total, std::min<size_t>(total_bytes, UINT32_MAX));
}

CUresult cuMemGetAddressRange_v2(Context&, CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr)
{
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(dptr);
    if (!allocation)
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = allocation->start;
    if (psize)
        *psize = allocation->bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(Context& context, CUdeviceptr_v1* pbase, unsigned int* psize,
                              CUdeviceptr_v1 dptr)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    const CUresult result = api::cuMemGetAddressRange_v2(context, &base, &size, dptr);
    narrowed(result, pbase, base);
    return narrowed(result, psize, size);
}

} // namespace api
} // namespace simgpu
