// tools/simgpu/runtime/graph/graph_params.hpp — parameters of graph nodes in the driver's form.
#pragma once

#include "tools/simgpu/runtime/copy.hpp"
#include "tools/simgpu/runtime/image.hpp"

namespace simgpu::runtime {

using KernelNode = CUDA_KERNEL_NODE_PARAMS_v1;

// The runtime has several forms of each, with the same fields.
template <class Parameters>
CUresult kernel_node(const Driver& driver, const Parameters& p, KernelNode& same)
{
    same = {};
    if (const CUresult error = function_of(driver, p.func, same.func))
        return error;
    same.gridDimX = p.gridDim.x;
    same.gridDimY = p.gridDim.y;
    same.gridDimZ = p.gridDim.z;
    same.blockDimX = p.blockDim.x;
    same.blockDimY = p.blockDim.y;
    same.blockDimZ = p.blockDim.z;
    same.sharedMemBytes = p.sharedMemBytes;
    same.kernelParams = p.kernelParams;
    same.extra = p.extra;
    return CUDA_SUCCESS;
}

template <class Parameters>
CUDA_MEMSET_NODE_PARAMS memset_node(const Parameters& p)
{
    return {address_of(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
}

// Calls `use` with `given` in the driver's form; CUDA_ERROR_INVALID_VALUE if nothing was given.
template <class Parameters, class Use>
CUresult with_kernel_node(const Driver& driver, const Parameters* given, Use use)
{
    KernelNode same;
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult error = kernel_node(driver, *given, same);
    return error != CUDA_SUCCESS ? error : use(same);
}

template <class Use>
CUresult with_copy_node(const Driver& driver, const cudaMemcpy3DParms* given, Use use)
{
    CUDA_MEMCPY3D same;
    const CUresult error = shape_3d(driver, given, same);
    return error != CUDA_SUCCESS ? error : use(same);
}

template <class Use>
CUresult with_copy_to_symbol(const Driver& driver, const void* symbol, const void* from,
                             size_t bytes, size_t offset, cudaMemcpyKind kind, Use use)
{
    CUdeviceptr to = 0;
    if (const CUresult error = part_of_symbol(driver, symbol, offset, bytes, to))
        return error;
    return use(shape_1d(reinterpret_cast<void*>(to), from, bytes, kind));
}

template <class Use>
CUresult with_copy_from_symbol(const Driver& driver, void* to, const void* symbol, size_t bytes,
                               size_t offset, cudaMemcpyKind kind, Use use)
{
    CUdeviceptr from = 0;
    if (const CUresult error = part_of_symbol(driver, symbol, offset, bytes, from))
        return error;
    return use(shape_1d(to, reinterpret_cast<void*>(from), bytes, kind));
}

} // namespace simgpu::runtime
