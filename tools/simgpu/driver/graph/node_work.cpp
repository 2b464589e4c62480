// tools/simgpu/driver/graph/node_work.cpp — what each kind of graph node does when it runs.
#include "tools/simgpu/driver/graph/graph.hpp"
#include "tools/simgpu/driver/memory/copy.hpp"
#include "tools/simgpu/driver/module/launch.hpp"

namespace simgpu {
namespace {

constexpr unsigned kMostOperations = 255;

// A value of 64 bits is written as its halves.
CUresult add_writes(const CUstreamBatchMemOpParams& operation, std::vector<Work>& writes)
{
    if (operation.operation != CU_STREAM_MEM_OP_WRITE_VALUE_32 &&
        operation.operation != CU_STREAM_MEM_OP_WRITE_VALUE_64)
        return CUDA_ERROR_NOT_SUPPORTED;
    const auto& write = operation.writeValue;
    const unsigned words = operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ? 1 : 2;
    if (write.address % (4 * words) != 0 ||
        (write.flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned word = 0; word < words; ++word) {
        const auto value = word == 0 ? write.value : static_cast<unsigned>(write.value64 >> 32);
        const Fill shape{{write.address + 4 * word, 0, 0, true}, {4, 1, 1}, value, 4};
        if (const CUresult error = make_work(shape, writes.emplace_back()))
            return error;
    }
    return CUDA_SUCCESS;
}

// The fields that all forms of a kernel node's parameters have.
template <class To, class From>
To same_launch(const From& p)
{
    To same{};
    same.func = p.func;
    same.gridDimX = p.gridDimX;
    same.gridDimY = p.gridDimY;
    same.gridDimZ = p.gridDimZ;
    same.blockDimX = p.blockDimX;
    same.blockDimY = p.blockDimY;
    same.blockDimZ = p.blockDimZ;
    same.sharedMemBytes = p.sharedMemBytes;
    same.kernelParams = p.kernelParams;
    same.extra = p.extra;
    return same;
}

} // namespace

CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& p)
{
    return same_launch<CUDA_KERNEL_NODE_PARAMS>(p);
}

CUDA_KERNEL_NODE_PARAMS_v1 narrow(const CUDA_KERNEL_NODE_PARAMS& p)
{
    auto same = same_launch<CUDA_KERNEL_NODE_PARAMS_v1>(p);
#if CUDA_VERSION >= 12000
    if (!same.func)
        same.func = reinterpret_cast<CUfunction>(p.kern);
#endif
    return same;
}

#if CUDA_VERSION >= 12020
CUDA_KERNEL_NODE_PARAMS kept_form(const CUDA_KERNEL_NODE_PARAMS_v3& p)
{
    auto kept = same_launch<CUDA_KERNEL_NODE_PARAMS>(p);
    kept.kern = p.kern;
    kept.ctx = p.ctx;
    return kept;
}

CUDA_MEMSET_NODE_PARAMS kept_form(const CUDA_MEMSET_NODE_PARAMS_v2& p)
{
    return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

CUDA_HOST_NODE_PARAMS kept_form(const CUDA_HOST_NODE_PARAMS_v2& p)
{
    CUDA_HOST_NODE_PARAMS kept{};
    kept.fn = p.fn;
    kept.userData = p.userData;
    return kept;
}

CUDA_BATCH_MEM_OP_NODE_PARAMS kept_form(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& p)
{
    return {p.ctx, p.count, p.paramArray, p.flags};
}
#endif

CUresult copy_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS* p, BatchedOperations& copy)
{
    if (!p || p->flags != 0 || p->count > kMostOperations || (p->count > 0 && !p->paramArray))
        return CUDA_ERROR_INVALID_VALUE;
    copy.context = p->ctx;
    copy.list.assign(p->paramArray, p->paramArray + p->count);
    return CUDA_SUCCESS;
}

CUresult make_work(const CUDA_KERNEL_NODE_PARAMS& p, Work& work)
{
    CUfunction function = p.func;
#if CUDA_VERSION >= 12000
    if (!function)
        function = reinterpret_cast<CUfunction>(p.kern);
#endif
    KernelCall call;
    const CUresult result = make_call(function, {p.gridDimX, p.gridDimY, p.gridDimZ},
                                      {p.blockDimX, p.blockDimY, p.blockDimZ}, p.sharedMemBytes,
                                      p.kernelParams, p.extra, call);
    if (result == CUDA_SUCCESS)
        work = make_work(call);
    return result;
}

CUresult make_work(const CUDA_MEMCPY3D& parameters, Work& work)
{
    Copy shape;
    const CUresult result = make_copy(parameters, shape);
    return result != CUDA_SUCCESS || shape.extent.empty() ? result : make_work(shape, work);
}

CUresult make_work(const CUDA_MEMSET_NODE_PARAMS& p, Work& work)
{
    if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
        return CUDA_ERROR_INVALID_VALUE;
    const Fill shape{
        {p.dst, p.pitch, 0, true}, {p.width * p.elementSize, p.height, 1}, p.value, p.elementSize};
    return shape.extent.empty() ? CUDA_ERROR_INVALID_VALUE : make_work(shape, work);
}

CUresult make_work(const CUDA_HOST_NODE_PARAMS& p, Work& work)
{
    if (!p.fn)
        return CUDA_ERROR_INVALID_VALUE;
    work.run = [function = p.fn, argument = p.userData] {
        return run_host_function(function, argument);
    };
    return CUDA_SUCCESS;
}

CUresult make_work(const BatchedOperations& operations, Work& work)
{
    std::vector<Work> writes;
    for (const CUstreamBatchMemOpParams& operation : operations.list)
        if (const CUresult error = add_writes(operation, writes))
            return error;
    for (const Work& write : writes)
        work.touches.insert(work.touches.end(), write.touches.begin(), write.touches.end());
    work.run = [writes = std::move(writes)] {
        for (const Work& write : writes)
            if (const CUresult error = write.run())
                return error;
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

} // namespace simgpu
