// tools/simgpu/runtime/graph/graph.cpp — graphs: made, copied, asked; and the memory that they own.
#include <algorithm>

#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags)
{
    return call(&Driver::cuGraphCreate, pGraph, flags);
}

SIMGPU_RUNTIME cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return call(&Driver::cuGraphDestroy, graph);
}

SIMGPU_RUNTIME cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return call(&Driver::cuGraphDestroyNode, node);
}

SIMGPU_RUNTIME cudaError_t cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph)
{
    return call(&Driver::cuGraphClone, pGraphClone, originalGraph);
}

SIMGPU_RUNTIME cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                             size_t* numNodes)
{
    return call(&Driver::cuGraphGetNodes, graph, nodes, numNodes);
}

SIMGPU_RUNTIME cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* pType)
{
    return call(&Driver::cuGraphNodeGetType, node, reinterpret_cast<CUgraphNodeType*>(pType));
}

SIMGPU_RUNTIME cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes,
                                                 size_t* pNumRootNodes)
{
    return call(&Driver::cuGraphGetRootNodes, graph, pRootNodes, pNumRootNodes);
}

SIMGPU_RUNTIME cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* pNode,
                                                    cudaGraphNode_t originalNode,
                                                    cudaGraph_t clonedGraph)
{
    return call(&Driver::cuGraphNodeFindInClone, pNode, originalNode, clonedGraph);
}

SIMGPU_RUNTIME cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                                           cudaGraph_t* pGraph)
{
    return call(&Driver::cuGraphChildGraphNodeGetGraph, node, pGraph);
}

// From CUDA 12.3 on an edge has data, but nothing of it is kept: only the order matters here.
#if CUDA_VERSION >= 13000
namespace {

CUresult without_data(CUresult result, cudaGraphEdgeData* data, const void* list, size_t* count)
{
    if (result == CUDA_SUCCESS && data && list)
        std::fill_n(data, *count, cudaGraphEdgeData{});
    return result;
}

} // namespace

SIMGPU_RUNTIME cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                             cudaGraphNode_t* to, cudaGraphEdgeData* edgeData,
                                             size_t* numEdges)
{
    return enter([&](const Driver& driver) -> CUresult {
        return without_data(driver.cuGraphGetEdges(graph, from, to, numEdges), edgeData, from,
                            numEdges);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                        cudaGraphNode_t* pDependencies,
                                                        cudaGraphEdgeData* edgeData,
                                                        size_t* pNumDependencies)
{
    return enter([&](const Driver& driver) -> CUresult {
        return without_data(
            driver.cuGraphNodeGetDependencies(node, pDependencies, pNumDependencies), edgeData,
            pDependencies, pNumDependencies);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                          cudaGraphNode_t* pDependentNodes,
                                                          cudaGraphEdgeData* edgeData,
                                                          size_t* pNumDependentNodes)
{
    return enter([&](const Driver& driver) -> CUresult {
        return without_data(
            driver.cuGraphNodeGetDependentNodes(node, pDependentNodes, pNumDependentNodes),
            edgeData, pDependentNodes, pNumDependentNodes);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                    const cudaGraphNode_t* to,
                                                    const cudaGraphEdgeData*,
                                                    size_t numDependencies)
{
    return call(&Driver::cuGraphAddDependencies, graph, from, to, numDependencies);
}

SIMGPU_RUNTIME cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                       const cudaGraphNode_t* from,
                                                       const cudaGraphNode_t* to,
                                                       const cudaGraphEdgeData*,
                                                       size_t numDependencies)
{
    return call(&Driver::cuGraphRemoveDependencies, graph, from, to, numDependencies);
}
#else
SIMGPU_RUNTIME cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                             cudaGraphNode_t* to, size_t* numEdges)
{
    return call(&Driver::cuGraphGetEdges, graph, from, to, numEdges);
}

SIMGPU_RUNTIME cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                        cudaGraphNode_t* pDependencies,
                                                        size_t* pNumDependencies)
{
    return call(&Driver::cuGraphNodeGetDependencies, node, pDependencies, pNumDependencies);
}

SIMGPU_RUNTIME cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                          cudaGraphNode_t* pDependentNodes,
                                                          size_t* pNumDependentNodes)
{
    return call(&Driver::cuGraphNodeGetDependentNodes, node, pDependentNodes, pNumDependentNodes);
}

SIMGPU_RUNTIME cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                    const cudaGraphNode_t* to,
                                                    size_t numDependencies)
{
    return call(&Driver::cuGraphAddDependencies, graph, from, to, numDependencies);
}

SIMGPU_RUNTIME cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                       const cudaGraphNode_t* from,
                                                       const cudaGraphNode_t* to,
                                                       size_t numDependencies)
{
    return call(&Driver::cuGraphRemoveDependencies, graph, from, to, numDependencies);
}
#endif

SIMGPU_RUNTIME cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return call(&Driver::cuDeviceGraphMemTrim, device);
}

SIMGPU_RUNTIME cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                          cudaGraphMemAttributeType attr,
                                                          void* value)
{
    return call(&Driver::cuDeviceGetGraphMemAttribute, device,
                static_cast<CUgraphMem_attribute>(attr), value);
}

SIMGPU_RUNTIME cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                          cudaGraphMemAttributeType attr,
                                                          void* value)
{
    return call(&Driver::cuDeviceSetGraphMemAttribute, device,
                static_cast<CUgraphMem_attribute>(attr), value);
}
