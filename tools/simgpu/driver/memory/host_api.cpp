// tools/simgpu/driver/memory/host_api.cpp — pinned host memory, allocated or registered.
#include <sys/mman.h>

#include "api.hpp"
#include "tools/simgpu/driver/base/narrowed.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {
namespace {

constexpr unsigned kHostAllocFlags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                    CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

CUresult add(Context& context, Kind kind, void* pages, std::size_t bytes, unsigned flags)
{
    const std::lock_guard lock(memory_mutex());
    const auto start = reinterpret_cast<std::uintptr_t>(pages);
    const auto next = allocations_locked().lower_bound(start);
    const bool overlaps_next = next != allocations_locked().end() && next->first < start + bytes;
    if (find_allocation_locked(start) || overlaps_next)
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    add_allocation_locked({.start = start,
                           .bytes = bytes,
                           .kind = kind,
                           .flags = flags,
                           .device = context.device,
                           .context = &context});
    return CUDA_SUCCESS;
}

bool is_host(const Allocation* allocation)
{
    return allocation && (allocation->kind == Kind::host || allocation->kind == Kind::registered);
}

// Frees or unregisters. It first waits for work that may still use the pages.
CUresult drop(Context& context, void* pointer, Kind kind, CUresult not_found)
{
    finish_all(context);
    const std::lock_guard lock(memory_mutex());
    Allocation* const allocation = allocation_at_locked(reinterpret_cast<std::uintptr_t>(pointer));
    if (!allocation || allocation->kind != kind)
        return not_found;
    drop_allocation_locked(*allocation);
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuMemHostAlloc(Context& context, void** pp, size_t bytesize, unsigned int Flags)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    if (!pp || (Flags & ~kHostAllocFlags) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytesize == 0)
        return CUDA_SUCCESS; // a null pointer
    void* const pages = mmap(nullptr, bytesize, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result =
        add(context, Kind::host, pages, bytesize, Flags | CU_MEMHOSTALLOC_DEVICEMAP);
    if (result == CUDA_SUCCESS)
        *pp = pages;
    return result;
}

CUresult cuMemAllocHost_v2(Context& context, void** pp, size_t bytesize)
{
    return api::cuMemHostAlloc(context, pp, bytesize, 0);
}

CUresult cuMemFreeHost(void* p)
{
    return p ? in_current_context(drop, p, Kind::host, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(Context& context, void* p, size_t bytesize, unsigned int Flags)
{
    if (!p || bytesize == 0 || (Flags & ~kRegisterFlags) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const auto start = reinterpret_cast<std::uintptr_t>(p);
    if (start + bytesize < start || !pages_exist(start, start + bytesize))
        return CUDA_ERROR_INVALID_VALUE;
    return add(context, Kind::registered, p, bytesize, Flags);
}

CUresult cuMemHostUnregister(Context& context, void* p)
{
    return drop(context, p, Kind::registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult cuMemHostGetDevicePointer_v2(Context&, CUdeviceptr* pdptr, void* p, unsigned int Flags)
{
    if (!pdptr || Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    if (!is_host(find_allocation_locked(reinterpret_cast<std::uintptr_t>(p))))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = reinterpret_cast<CUdeviceptr>(p);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1* pdptr, void* p, unsigned int Flags)
{
    if (!pdptr)
        return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address = 0;
    return narrowed(in_current_context(api::cuMemHostGetDevicePointer_v2, &address, p, Flags),
                    pdptr, address);
}

CUresult cuMemHostGetFlags(Context&, unsigned int* pFlags, void* p)
{
    if (!pFlags)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(reinterpret_cast<std::uintptr_t>(p));
    if (!is_host(allocation))
        return CUDA_ERROR_INVALID_VALUE;
    *pFlags = allocation->flags;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
