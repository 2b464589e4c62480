// tools/simgpu/driver/share/pool_share_api.cpp — pools and their allocations between processes.
//
// The descriptor of a pool is that of its device's memory, and an allocation is named by
// its place there.
#include <cstring>
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"
#include "tools/simgpu/driver/share/share.hpp"

namespace simgpu {
namespace {

struct PoolPointer { // what CUmemPoolPtrExportData carries
    std::uint64_t magic;
    std::uint64_t offset;
    std::uint64_t bytes;
};
constexpr std::uint64_t kPoolPointerMagic = 0x6c6f6f70756d6973; // "simupool"

// A pointer that is imported again has the address that it has; one free ends it.
bool already_imported(const Pool& pool, std::uint64_t offset, CUdeviceptr& address)
{
    const std::lock_guard lock(memory_mutex());
    for (const auto& [start, known] : allocations_locked())
        if (known.kind == Kind::pool_import && known.pool == &pool &&
            known.imported_from == offset && !known.free_queued) {
            address = start;
            return true;
        }
    return false;
}

} // namespace

namespace api {

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
    if (already_imported(*found, data.offset, *ptr_out))
        return CUDA_SUCCESS;
    const CUresult result = map_foreign(found->import_file, data.offset, data.bytes,
                                        Kind::pool_import, *found->device, nullptr, *ptr_out);
    if (result == CUDA_SUCCESS) {
        const std::lock_guard lock(memory_mutex());
        if (Allocation* const mapped = allocation_at_locked(*ptr_out)) {
            mapped->pool = found;
            mapped->imported_from = data.offset;
        }
    }
    return result;
}

} // namespace api
} // namespace simgpu
