// tools/simgpu/runtime/graph/graph_exec.cpp — executable graphs: made, launched, changed.
#include "tools/simgpu/runtime/graph/graph_params.hpp"

using namespace simgpu::runtime;

#if CUDART_VERSION >= 12000
// If its parameters ask for an upload, it is made in the stream that they name.
SIMGPU_STREAM_FUNCTION(cudaGraphInstantiateWithParams, _ptsz,
                       (cudaGraphExec_t * pGraphExec, cudaGraph_t graph,
                        cudaGraphInstantiateParams* instantiateParams),
                       {
                           return pass(calls.cuGraphInstantiateWithParams, pGraphExec, graph,
                                       instantiateParams);
                       })
#else
SIMGPU_RUNTIME cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                cudaGraphNode_t*, char*, size_t)
{
    return call(&Driver::cuGraphInstantiateWithFlags, pGraphExec, graph, 0);
}
#endif

namespace {

CUresult set_shape(const Driver& driver, cudaGraphExec_t exec, cudaGraphNode_t node,
                   const CUDA_MEMCPY3D& shape)
{
    CUcontext context = nullptr;
    if (const CUresult error = driver.cuCtxGetCurrent(&context))
        return error;
    return driver.cuGraphExecMemcpyNodeSetParams(exec, node, &shape, context);
}

} // namespace

SIMGPU_RUNTIME cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec,
                                                            cudaGraphNode_t node,
                                                            const cudaKernelNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_kernel_node(driver, pNodeParams, [&](const KernelNode& same) {
            return driver.cuGraphExecKernelNodeSetParams(hGraphExec, node, &same);
        });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec,
                                                            cudaGraphNode_t node,
                                                            const cudaMemcpy3DParms* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_node(driver, pNodeParams, [&](const CUDA_MEMCPY3D& shape) {
            return set_shape(driver, hGraphExec, node, shape);
        });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec,
                                                              cudaGraphNode_t node, void* dst,
                                                              const void* src, size_t count,
                                                              cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return set_shape(driver, hGraphExec, node, shape_1d(dst, src, count, kind));
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const void* symbol, const void* src,
    size_t count, size_t offset, cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_to_symbol(
            driver, symbol, src, count, offset, kind,
            [&](const CUDA_MEMCPY3D& shape) { return set_shape(driver, hGraphExec, node, shape); });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                                      cudaGraphNode_t node,
                                                                      void* dst, const void* symbol,
                                                                      size_t count, size_t offset,
                                                                      cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_from_symbol(
            driver, dst, symbol, count, offset, kind,
            [&](const CUDA_MEMCPY3D& shape) { return set_shape(driver, hGraphExec, node, shape); });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec,
                                                            cudaGraphNode_t node,
                                                            const cudaMemsetParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUcontext context = nullptr;
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult error = driver.cuCtxGetCurrent(&context))
            return error;
        const CUDA_MEMSET_NODE_PARAMS same = memset_node(*pNodeParams);
        return driver.cuGraphExecMemsetNodeSetParams(hGraphExec, node, &same, context);
    });
}

#if CUDART_VERSION >= 12000
SIMGPU_RUNTIME cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                               cudaGraphExecUpdateResultInfo* resultInfo)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUgraphExecUpdateResult why{};
        CUgraphNode failed = nullptr;
        if (!resultInfo)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = driver.cuGraphExecUpdate(hGraphExec, hGraph, &failed, &why);
        *resultInfo = {static_cast<cudaGraphExecUpdateResult>(why), failed, nullptr};
        return result;
    });
}
#endif
