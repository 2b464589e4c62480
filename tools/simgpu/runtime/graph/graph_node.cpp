// tools/simgpu/runtime/graph/graph_node.cpp — add nodes to graphs.
#include "tools/simgpu/runtime/graph/graph_params.hpp"

using namespace simgpu::runtime;

namespace {

// Where a new node goes, as told to every cudaGraphAdd...Node.
struct NodePlace {
    cudaGraphNode_t* node;
    cudaGraph_t graph;
    const cudaGraphNode_t* dependencies;
    size_t count;
};

template <class Parameters>
CUresult add_kernel(const Driver& driver, const NodePlace& place, const Parameters* given)
{
    return with_kernel_node(driver, given, [&](const KernelNode& same) {
        return driver.cuGraphAddKernelNode(place.node, place.graph, place.dependencies, place.count,
                                           &same);
    });
}

CUresult add_shape(const Driver& driver, const NodePlace& place, const CUDA_MEMCPY3D& shape)
{
    CUcontext context = nullptr;
    if (const CUresult error = driver.cuCtxGetCurrent(&context))
        return error;
    return driver.cuGraphAddMemcpyNode(place.node, place.graph, place.dependencies, place.count,
                                       &shape, context);
}

CUresult add_copy(const Driver& driver, const NodePlace& place, const cudaMemcpy3DParms* given)
{
    return with_copy_node(
        driver, given, [&](const CUDA_MEMCPY3D& shape) { return add_shape(driver, place, shape); });
}

template <class Parameters>
CUresult add_memset(const Driver& driver, const NodePlace& place, const Parameters* given)
{
    CUcontext context = nullptr;
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = driver.cuCtxGetCurrent(&context))
        return error;
    const CUDA_MEMSET_NODE_PARAMS same = memset_node(*given);
    return driver.cuGraphAddMemsetNode(place.node, place.graph, place.dependencies, place.count,
                                       &same, context);
}

#if CUDART_VERSION >= 12020
CUresult add_child(const Driver& driver, const NodePlace& place,
                   const cudaChildGraphNodeParams& given)
{
#if CUDART_VERSION >= 12090
    if (given.ownership == cudaGraphChildGraphOwnershipMove) {
        CUgraphNodeParams same{};
        same.type = CU_GRAPH_NODE_TYPE_GRAPH;
        same.graph.graph = given.graph;
        same.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        return driver.cuGraphAddNode(place.node, place.graph, place.dependencies, place.count,
                                     &same);
    }
#endif
    return driver.cuGraphAddChildGraphNode(place.node, place.graph, place.dependencies, place.count,
                                           given.graph);
}

CUresult add_any(const Driver& driver, const NodePlace& place, cudaGraphNodeParams* given)
{
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    switch (given->type) {
    case cudaGraphNodeTypeEmpty:
        return driver.cuGraphAddEmptyNode(place.node, place.graph, place.dependencies, place.count);
    case cudaGraphNodeTypeKernel:
        return add_kernel(driver, place, &given->kernel);
    case cudaGraphNodeTypeMemcpy:
        return add_copy(driver, place, &given->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return add_memset(driver, place, &given->memset);
    case cudaGraphNodeTypeHost: {
        CUDA_HOST_NODE_PARAMS same{};
        same.fn = given->host.fn;
        same.userData = given->host.userData;
        return driver.cuGraphAddHostNode(place.node, place.graph, place.dependencies, place.count,
                                         &same);
    }
    case cudaGraphNodeTypeGraph:
        return add_child(driver, place, given->graph);
    case cudaGraphNodeTypeWaitEvent:
        return driver.cuGraphAddEventWaitNode(place.node, place.graph, place.dependencies,
                                              place.count, given->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return driver.cuGraphAddEventRecordNode(place.node, place.graph, place.dependencies,
                                                place.count, given->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
        return pass(driver.cuGraphAddMemAllocNode, place.node, place.graph, place.dependencies,
                    place.count, &given->alloc);
    case cudaGraphNodeTypeMemFree:
        return driver.cuGraphAddMemFreeNode(place.node, place.graph, place.dependencies,
                                            place.count, address_of(given->free.dptr));
    default:
        return CUDA_ERROR_NOT_SUPPORTED; // semaphore and conditional nodes
    }
}
#endif

} // namespace

SIMGPU_RUNTIME cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t* pDependencies,
                                                  size_t numDependencies,
                                                  const cudaKernelNodeParams* pNodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return add_kernel(driver, {pGraphNode, graph, pDependencies, numDependencies}, pNodeParams);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t* pDependencies,
                                                  size_t numDependencies,
                                                  const cudaMemsetParams* pMemsetParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return add_memset(driver, {pGraphNode, graph, pDependencies, numDependencies},
                          pMemsetParams);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t* pDependencies,
                                                  size_t numDependencies,
                                                  const cudaMemcpy3DParms* pCopyParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return add_copy(driver, {pGraphNode, graph, pDependencies, numDependencies}, pCopyParams);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                    const cudaGraphNode_t* pDependencies,
                                                    size_t numDependencies, void* dst,
                                                    const void* src, size_t count,
                                                    cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return add_shape(driver, {pGraphNode, graph, pDependencies, numDependencies},
                         shape_1d(dst, src, count, kind));
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemcpyNodeToSymbol(
    cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
    size_t numDependencies, const void* symbol, const void* src, size_t count, size_t offset,
    cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_to_symbol(
            driver, symbol, src, count, offset, kind, [&](const CUDA_MEMCPY3D& shape) {
                return add_shape(driver, {pGraphNode, graph, pDependencies, numDependencies},
                                 shape);
            });
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode,
                                                            cudaGraph_t graph,
                                                            const cudaGraphNode_t* pDependencies,
                                                            size_t numDependencies, void* dst,
                                                            const void* symbol, size_t count,
                                                            size_t offset, cudaMemcpyKind kind)
{
    return enter([&](const Driver& driver) -> CUresult {
        return with_copy_from_symbol(
            driver, dst, symbol, count, offset, kind, [&](const CUDA_MEMCPY3D& shape) {
                return add_shape(driver, {pGraphNode, graph, pDependencies, numDependencies},
                                 shape);
            });
    });
}

#if CUDART_VERSION >= 12030
SIMGPU_RUNTIME cudaError_t SIMGPU_NEWEST(cudaGraphAddNode,
                                         _v2)(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t* pDependencies,
                                              const cudaGraphEdgeData*, size_t numDependencies,
                                              cudaGraphNodeParams* nodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return add_any(driver, {pGraphNode, graph, pDependencies, numDependencies}, nodeParams);
    });
}
#endif
#if CUDART_VERSION >= 12020 && CUDART_VERSION < 13000
SIMGPU_RUNTIME cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t* pDependencies,
                                            size_t numDependencies, cudaGraphNodeParams* nodeParams)
{
    return enter([&](const Driver& driver) -> CUresult {
        return add_any(driver, {pGraphNode, graph, pDependencies, numDependencies}, nodeParams);
    });
}
#endif
