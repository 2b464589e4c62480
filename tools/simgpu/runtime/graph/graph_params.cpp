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

SIMGPU_RUNTIME cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                        cudaMemsetParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_MEMSET_NODE_PARAMS known{};
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = driver.cuGraphMemsetNodeGetParams(node, &known);
        if (result == CUDA_SUCCESS)
            *pNodeParams = {reinterpret_cast<void*>(known.dst),
                            known.pitch,
                            known.value,
                            known.elementSize,
                            known.width,
                            known.height};
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                        const cudaMemsetParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        const CUDA_MEMSET_NODE_PARAMS same = memset_node(*pNodeParams);
        return driver.cuGraphMemsetNodeSetParams(node, &same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                      cudaHostNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_HOST_NODE_PARAMS known{};
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = driver.cuGraphHostNodeGetParams(node, &known);
        if (result == CUDA_SUCCESS) {
            *pNodeParams = {};
            pNodeParams->fn = known.fn;
            pNodeParams->userData = known.userData;
        }
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                      const cudaHostNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        const CUDA_HOST_NODE_PARAMS same = host_node(*pNodeParams);
        return driver.cuGraphHostNodeSetParams(node, &same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                          cudaMemAllocNodeParams* params_out)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_MEM_ALLOC_NODE_PARAMS known{};
        if (!params_out)
            return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult error = driver.cuGraphMemAllocNodeGetParams(node, &known))
            return error;
        *params_out = {};
        auto& properties = params_out->poolProps;
        properties.allocType = static_cast<cudaMemAllocationType>(known.poolProps.allocType);
        properties.handleTypes =
            static_cast<cudaMemAllocationHandleType>(known.poolProps.handleTypes);
        properties.location.type = static_cast<cudaMemLocationType>(known.poolProps.location.type);
        properties.location.id = known.poolProps.location.id;
        params_out->accessDescs = reinterpret_cast<const cudaMemAccessDesc*>(known.accessDescs);
        params_out->accessDescCount = known.accessDescCount;
        params_out->bytesize = known.bytesize;
        params_out->dptr = reinterpret_cast<void*>(known.dptr);
        return CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out)
{
    return call(&Driver::cuGraphMemFreeNodeGetParams, node, static_cast<CUdeviceptr*>(dptr_out));
}

// The attributes and their values are the driver's.
SIMGPU_RUNTIME cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode,
                                                           cudaKernelNodeAttrID attr,
                                                           cudaKernelNodeAttrValue* value_out)
{
    return enter([&](const Driver& driver) -> CUresult {
        static_assert(sizeof(cudaKernelNodeAttrValue) == sizeof(CUkernelNodeAttrValue));
        return driver.cuGraphKernelNodeGetAttribute(
            hNode, static_cast<CUkernelNodeAttrID>(attr),
            reinterpret_cast<CUkernelNodeAttrValue*>(value_out));
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode,
                                                           cudaKernelNodeAttrID attr,
                                                           const cudaKernelNodeAttrValue* value)
{
    return call(&Driver::cuGraphKernelNodeSetAttribute, hNode,
                static_cast<CUkernelNodeAttrID>(attr),
                reinterpret_cast<const CUkernelNodeAttrValue*>(value));
}

#if CUDA_VERSION >= 13000
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
