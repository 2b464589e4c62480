// tools/simgpu/runtime/graph/graph_params.cpp — what a graph's node does: told, and changed.
#include "tools/simgpu/runtime/graph/graph_params.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                        cudaKernelNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        KernelNode known{};
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult error = driver.cuGraphKernelNodeGetParams(node, &known))
            return error;
        *pNodeParams = {};
        pNodeParams->func = stub_of(known.func);
        pNodeParams->gridDim = {known.gridDimX, known.gridDimY, known.gridDimZ};
        pNodeParams->blockDim = {known.blockDimX, known.blockDimY, known.blockDimZ};
        pNodeParams->sharedMemBytes = known.sharedMemBytes;
        pNodeParams->kernelParams = known.kernelParams;
        pNodeParams->extra = known.extra;
        return CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                        const cudaKernelNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_kernel_node(driver, pNodeParams, [&](const KernelNode& same) {
            return driver.cuGraphKernelNodeSetParams(node, &same);
        });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                        cudaMemcpy3DParms* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_MEMCPY3D known{};
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = driver.cuGraphMemcpyNodeGetParams(node, &known);
        if (result == CUDA_SUCCESS)
            *pNodeParams = parameters_of(driver, known);
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                        const cudaMemcpy3DParms* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_node(driver, pNodeParams, [&](const CUDA_MEMCPY3D& shape) {
            return driver.cuGraphMemcpyNodeSetParams(node, &shape);
        });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst,
                                                          const void* src, size_t count,
                                                          cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        const CUDA_MEMCPY3D shape = shape_1d(dst, src, count, kind);
        return driver.cuGraphMemcpyNodeSetParams(node, &shape);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                                const void* symbol, const void* src,
                                                                size_t count, size_t offset,
                                                                cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_to_symbol(driver, symbol, src, count, offset, kind,
                                   [&](const CUDA_MEMCPY3D& shape) {
                                       return driver.cuGraphMemcpyNodeSetParams(node, &shape);
                                   });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst,
                                                                  const void* symbol, size_t count,
                                                                  size_t offset,
                                                                  cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_from_symbol(driver, dst, symbol, count, offset, kind,
                                     [&](const CUDA_MEMCPY3D& shape) {
                                         return driver.cuGraphMemcpyNodeSetParams(node, &shape);
                                     });
    });
}

// CUDA 13 changed the order of the two.
#if CUDART_VERSION >= 13000
SIMGPU_RUNTIME cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst,
                                                             cudaGraphNode_t hSrc)
{
    return call(&Driver::cuGraphKernelNodeCopyAttributes, hDst, hSrc);
}
#else
SIMGPU_RUNTIME cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hSrc,
                                                             cudaGraphNode_t hDst)
{
    return call(&Driver::cuGraphKernelNodeCopyAttributes, hDst, hSrc);
}
#endif
