// tools/simgpu/driver/share/memory_share_api.cpp — physical memory and ranges as descriptors.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/physical.hpp"
#include "tools/simgpu/driver/share/share.hpp"

namespace simgpu {
namespace {

bool page_multiple(std::uint64_t value)
{
    return value % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) == 0;
}

// Whether the range is in one allocation, or in mappings side by side on one device.
bool has_handle_locked(CUdeviceptr start, std::size_t bytes)
{
    const Allocation* const first = find_allocation_locked(start);
    if (!first ||
        (first->kind != Kind::device && first->kind != Kind::mapped && first->kind != Kind::host))
        return false;
    const CUdeviceptr end = start + bytes;
    for (CUdeviceptr address = start; address < end;) {
        const Allocation* const allocation = find_allocation_locked(address);
        if (!allocation || allocation->kind != first->kind || allocation->device != first->device ||
            (address != start && first->kind != Kind::mapped))
            return false;
        address = allocation->start + allocation->bytes;
    }
    return true;
}

bool shareable(const Physical& physical)
{
    return physical.multicast ? physical.multicast->shareable : physical.file >= 0;
}

} // namespace

namespace api {

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags)
{
    const std::lock_guard lock(memory_mutex());
    const Physical* physical = physical_of(handle);
    if (!shareableHandle || !physical || !shareable(*physical) || flags != 0 ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    return duplicate_file(physical->file, *static_cast<int*>(shareableHandle));
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType)
{
    const int given = static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle));
    struct stat status;
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    Device* const device = device_of_memory_file(given);
    const unsigned team = team_of_multicast_file(given);
    if ((!device && team == 0) || fstat(given, &status) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    int file = -1;
    if (const CUresult error = duplicate_file(given, file))
        return error;
    const auto bytes = static_cast<std::size_t>(status.st_size);
    const std::lock_guard lock(memory_mutex());
    if (team > 0) {
        *handle = make_multicast(file, team, true, bytes);
        return CUDA_SUCCESS;
    }
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal()};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    Physical* made = make_physical(properties, device, bytes);
    made->file = file;
    *handle = handle_of(made);
    return CUDA_SUCCESS;
}

CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr dptr, size_t size,
                                       CUmemRangeHandleType handleType, unsigned long long flags)
{
    if (!handle || size == 0 || !page_multiple(dptr) || !page_multiple(size) ||
        dptr + size < dptr || handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags != 0) // a mapping over PCIe is not simulated
        return CUDA_ERROR_NOT_SUPPORTED;
    const std::lock_guard lock(memory_mutex());
    if (!has_handle_locked(dptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    // Nothing here reads it, as there is no device that it could be handed to.
    const int file = memfd_create("vramscope-simgpu:dmabuf", MFD_CLOEXEC);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *static_cast<int*>(handle) = file;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
