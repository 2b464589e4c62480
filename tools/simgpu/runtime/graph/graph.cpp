// tools/simgpu/runtime/graph/graph.cpp — what depends on what in a graph.
#include <algorithm>

#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

// From CUDA 12.3 on an edge has data, but nothing of it is kept: only the order matters here.
#if CUDART_VERSION >= 12030
namespace {

CUresult without_data(CUresult result, cudaGraphEdgeData* data, const void* list, size_t* count)
{
    if (result == CUDA_SUCCESS && data && list)
        std::fill_n(data, *count, cudaGraphEdgeData{});
    return result;
}

} // namespace

SIMGPU_RUNTIME cudaError_t SIMGPU_NEWEST(cudaGraphGetEdges,
                                         _v2)(cudaGraph_t graph, cudaGraphNode_t* from,
                                              cudaGraphNode_t* to, cudaGraphEdgeData* edgeData,
                                              size_t* numEdges)
{
    return enter([&](const Driver& driver) -> CUresult {
        return without_data(driver.cuGraphGetEdges(graph, from, to, numEdges), edgeData, from,
                            numEdges);
    });
}

SIMGPU_RUNTIME cudaError_t SIMGPU_NEWEST(cudaGraphNodeGetDependencies,
                                         _v2)(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                              cudaGraphEdgeData* edgeData, size_t* pNumDependencies)
{
    return enter([&](const Driver& driver) -> CUresult {
        return without_data(
            driver.cuGraphNodeGetDependencies(node, pDependencies, pNumDependencies), edgeData,
            pDependencies, pNumDependencies);
    });
}

SIMGPU_RUNTIME cudaError_t SIMGPU_NEWEST(cudaGraphNodeGetDependentNodes,
                                         _v2)(cudaGraphNode_t node,
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
#endif
