// tools/simgpu/driver/memory/managed_api.cpp — advice, prefetch and attributes of managed memory.
#include "api.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {
namespace {

CUresult check_managed(CUdeviceptr start, std::size_t bytes)
{
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(start);
    const bool managed =
        allocation && (allocation->kind == Kind::managed ||
                       (allocation->kind == Kind::pooled && is_managed_memory(*allocation->pool)));
    const bool inside =
        managed && bytes > 0 && bytes <= allocation->start + allocation->bytes - start;
    return inside ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult prefetch(CUdeviceptr start, std::size_t bytes, CUstream handle)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(handle, stream))
        return error;
    if (const CUresult error = check_managed(start, bytes))
        return error;
    Submission submission;
    submission.type = CU_GRAPH_NODE_TYPE_EMPTY;
    submission.work.touches = {{start, bytes, false}};
    return submit(*stream, std::move(submission));
}

} // namespace

namespace api {

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise, CUdevice)
{
    return check_managed(devPtr, count);
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    if (dstDevice != CU_DEVICE_CPU && !device_at(dstDevice))
        return CUDA_ERROR_INVALID_DEVICE;
    return prefetch(devPtr, count, hStream);
}

#if CUDA_VERSION >= 12020
CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise, CUmemLocation)
{
    return check_managed(devPtr, count);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation, unsigned int flags,
                               CUstream hStream)
{
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : prefetch(devPtr, count, hStream);
}
#endif

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count)
{
    if (!data || dataSize != sizeof(int))
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_managed(devPtr, count))
        return error;
    // No place is preferred, and nothing was prefetched.
    *static_cast<int*>(data) =
        attribute == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ? 0 : CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
