// tools/simgpu/driver/node_work.cpp — what each kind of graph node does when it runs.
#include "tools/simgpu/driver/copy.hpp"
#include "tools/simgpu/driver/graph.hpp"
#include "tools/simgpu/driver/launch.hpp"

namespace simgpu {

CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& p)
{
    CUDA_KERNEL_NODE_PARAMS wide{};
    wide.func = p.func;
    wide.gridDimX = p.gridDimX;
    wide.gridDimY = p.gridDimY;
    wide.gridDimZ = p.gridDimZ;
    wide.blockDimX = p.blockDimX;
    wide.blockDimY = p.blockDimY;
    wide.blockDimZ = p.blockDimZ;
    wide.sharedMemBytes = p.sharedMemBytes;
    wide.kernelParams = p.kernelParams;
    wide.extra = p.extra;
    return wide;
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

} // namespace simgpu
