// tools/simgpu/runtime/graph.cpp — cudaGraph*: what programs build by hand, instantiate and launch.
#include "tools/simgpu/runtime/call.hpp"
#include "tools/simgpu/runtime/image.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags)
{
    return enter(
        [&](const Driver& driver) -> CUresult { return driver.cuGraphCreate(pGraph, flags); });
}

SIMGPU_RUNTIME cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return enter([&](const Driver& driver) -> CUresult { return driver.cuGraphDestroy(graph); });
}

SIMGPU_RUNTIME cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return enter([&](const Driver& driver) -> CUresult { return driver.cuGraphDestroyNode(node); });
}

SIMGPU_RUNTIME cudaError_t cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphClone(pGraphClone, originalGraph);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                             size_t* numNodes)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphGetNodes(graph, nodes, numNodes);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* pType)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(pType));
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                 const cudaGraphNode_t* pDependencies,
                                                 size_t numDependencies)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t* pDependencies,
                                                size_t numDependencies,
                                                const cudaHostNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_HOST_NODE_PARAMS same{};
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        same.fn = pNodeParams->fn;
        same.userData = pNodeParams->userData;
        return driver.cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies, &same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t* pDependencies,
                                                  size_t numDependencies,
                                                  const cudaKernelNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_KERNEL_NODE_PARAMS_v1 same{};
        if (!pNodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult error = function_of(driver, pNodeParams->func, same.func))
            return error;
        same.gridDimX = pNodeParams->gridDim.x;
        same.gridDimY = pNodeParams->gridDim.y;
        same.gridDimZ = pNodeParams->gridDim.z;
        same.blockDimX = pNodeParams->blockDim.x;
        same.blockDimY = pNodeParams->blockDim.y;
        same.blockDimZ = pNodeParams->blockDim.z;
        same.sharedMemBytes = pNodeParams->sharedMemBytes;
        same.kernelParams = pNodeParams->kernelParams;
        same.extra = pNodeParams->extra;
        return driver.cuGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies,
                                           &same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t* pDependencies,
                                                  size_t numDependencies,
                                                  const cudaMemsetParams* pMemsetParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!pMemsetParams)
            return CUDA_ERROR_INVALID_VALUE;
        CUDA_MEMSET_NODE_PARAMS same{};
        same.dst = address_of(pMemsetParams->dst);
        same.pitch = pMemsetParams->pitch;
        same.value = pMemsetParams->value;
        same.elementSize = pMemsetParams->elementSize;
        same.width = pMemsetParams->width;
        same.height = pMemsetParams->height;
        return driver.cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &same,
                                           nullptr);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                    const cudaGraphNode_t* pDependencies,
                                                    size_t numDependencies,
                                                    cudaMemAllocNodeParams* nodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_MEM_ALLOC_NODE_PARAMS same{};
        if (!nodeParams)
            return CUDA_ERROR_INVALID_VALUE;
        same.poolProps.allocType =
            static_cast<CUmemAllocationType>(nodeParams->poolProps.allocType);
        same.poolProps.handleTypes =
            static_cast<CUmemAllocationHandleType>(nodeParams->poolProps.handleTypes);
        same.poolProps.location.type =
            static_cast<CUmemLocationType>(nodeParams->poolProps.location.type);
        same.poolProps.location.id = nodeParams->poolProps.location.id;
        same.bytesize = nodeParams->bytesize;
        const CUresult result =
            driver.cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies, &same);
        if (result == CUDA_SUCCESS)
            nodeParams->dptr = reinterpret_cast<void*>(same.dptr);
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                   const cudaGraphNode_t* pDependencies,
                                                   size_t numDependencies, void* dptr)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                            address_of(dptr));
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec,
                                                         cudaGraph_t graph,
                                                         unsigned long long flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphInstantiateWithFlags(pGraphExec, graph, flags);
    });
}

#if CUDA_VERSION >= 12000
SIMGPU_RUNTIME cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                unsigned long long flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphInstantiateWithFlags(pGraphExec, graph, flags);
    });
}
#else
SIMGPU_RUNTIME cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                cudaGraphNode_t*, char*, size_t)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuGraphInstantiateWithFlags(pGraphExec, graph, 0);
    });
}
#endif

SIMGPU_STREAM_FUNCTION(cudaGraphLaunch, _ptsz, (cudaGraphExec_t graphExec, cudaStream_t stream),
                       { return calls.cuGraphLaunch(graphExec, stream); })
SIMGPU_STREAM_FUNCTION(cudaGraphUpload, _ptsz, (cudaGraphExec_t graphExec, cudaStream_t stream),
                       { return calls.cuGraphUpload(graphExec, stream); })

SIMGPU_RUNTIME cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    return enter(
        [&](const Driver& driver) -> CUresult { return driver.cuGraphExecDestroy(graphExec); });
}

SIMGPU_RUNTIME cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return enter(
        [&](const Driver& driver) -> CUresult { return driver.cuDeviceGraphMemTrim(device); });
}

SIMGPU_RUNTIME cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                          cudaGraphMemAttributeType attr,
                                                          void* value)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr),
                                                   value);
    });
}

SIMGPU_RUNTIME cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                          cudaGraphMemAttributeType attr,
                                                          void* value)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr),
                                                   value);
    });
}
