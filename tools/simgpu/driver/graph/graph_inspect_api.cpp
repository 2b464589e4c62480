// tools/simgpu/driver/graph/graph_inspect_api.cpp — a graph's nodes and what depends on what.
#include <algorithm>
#include <iterator>

#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"

namespace simgpu {
namespace {

// As cuda.h says of its list calls: with a null list, *count becomes the size; otherwise at most
// *count items are written.
CUresult list(const std::vector<GraphNode*>& nodes, CUgraphNode* out, std::size_t* count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (out) {
        for (std::size_t index = 0; index < *count; ++index)
            out[index] =
                index < nodes.size() ? reinterpret_cast<CUgraphNode>(nodes[index]) : nullptr;
        *count = std::min(*count, nodes.size());
    } else {
        *count = nodes.size();
    }
    return CUDA_SUCCESS;
}

CUresult change_dependencies(CUgraph graph_handle, const CUgraphNode* from, const CUgraphNode* to,
                             std::size_t count, bool remove)
{
    const std::lock_guard lock(capture_mutex());
    Graph* graph = slots<Graph>().find(graph_handle);
    if (!graph || (count > 0 && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    if (remove && count > 0 && has_memory_nodes_locked(*graph))
        return CUDA_ERROR_NOT_SUPPORTED;
    for (std::size_t index = 0; index < count; ++index) {
        GraphNode* before = slots<GraphNode>().find(from[index]);
        GraphNode* after = slots<GraphNode>().find(to[index]);
        if (!before || !after || before->graph != graph || after->graph != graph || before == after)
            return CUDA_ERROR_INVALID_VALUE;
        if (remove)
            std::erase(after->dependencies, before);
        else
            after->dependencies.push_back(before);
    }
    return CUDA_SUCCESS;
}

CUresult list_edges(CUgraph graph_handle, CUgraphNode* from, CUgraphNode* to, std::size_t* count)
{
    const Graph* const graph = slots<Graph>().find(graph_handle);
    if (!graph || !from != !to)
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<GraphNode*> befores;
    std::vector<GraphNode*> afters;
    for (GraphNode* after : graph->nodes)
        for (GraphNode* before : after->dependencies) {
            befores.push_back(before);
            afters.push_back(after);
        }
    std::size_t same_count = count ? *count : 0;
    if (const CUresult error = list(befores, from, count))
        return error;
    return list(afters, to, &same_count);
}

std::vector<GraphNode*> dependents_of(GraphNode& node)
{
    std::vector<GraphNode*> found;
    for (GraphNode* other : node.graph->nodes)
        if (std::find(other->dependencies.begin(), other->dependencies.end(), &node) !=
            other->dependencies.end())
            found.push_back(other);
    return found;
}

} // namespace

namespace api {

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes)
{
    const std::lock_guard lock(capture_mutex());
    const Graph* graph = slots<Graph>().find(hGraph);
    return graph ? list(graph->nodes, nodes, numNodes) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes)
{
    const std::lock_guard lock(capture_mutex());
    const Graph* graph = slots<Graph>().find(hGraph);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<GraphNode*> roots;
    std::copy_if(graph->nodes.begin(), graph->nodes.end(), std::back_inserter(roots),
                 [](const GraphNode* node) { return node->dependencies.empty(); });
    return list(roots, rootNodes, numRootNodes);
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type)
{
    const GraphNode* node = slots<GraphNode>().find(hNode);
    if (!node || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies,
                                    size_t* numDependencies)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = slots<GraphNode>().find(hNode);
    return node ? list(node->dependencies, dependencies, numDependencies)
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                      size_t* numDependentNodes)
{
    const std::lock_guard lock(capture_mutex());
    GraphNode* node = slots<GraphNode>().find(hNode);
    return node ? list(dependents_of(*node), dependentNodes, numDependentNodes)
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges)
{
    const std::lock_guard lock(capture_mutex());
    return list_edges(hGraph, from, to, numEdges);
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t numDependencies)
{
    return change_dependencies(hGraph, from, to, numDependencies, false);
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t numDependencies)
{
    return change_dependencies(hGraph, from, to, numDependencies, true);
}

#if CUDA_VERSION >= 12030
CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t numDependencies)
{
    return change_dependencies(hGraph, from, to, numDependencies, false);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from,
                                      const CUgraphNode* to, const CUgraphEdgeData*,
                                      size_t numDependencies)
{
    return change_dependencies(hGraph, from, to, numDependencies, true);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                       CUgraphEdgeData* edgeData, size_t* numDependencies)
{
    const CUresult result = api::cuGraphNodeGetDependencies(hNode, dependencies, numDependencies);
    if (result == CUDA_SUCCESS && edgeData && dependencies)
        std::fill_n(edgeData, *numDependencies, CUgraphEdgeData{});
    return result;
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                         CUgraphEdgeData* edgeData, size_t* numDependentNodes)
{
    const CUresult result =
        api::cuGraphNodeGetDependentNodes(hNode, dependentNodes, numDependentNodes);
    if (result == CUDA_SUCCESS && edgeData && dependentNodes)
        std::fill_n(edgeData, *numDependentNodes, CUgraphEdgeData{});
    return result;
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edgeData, size_t* numEdges)
{
    const CUresult result = api::cuGraphGetEdges(hGraph, from, to, numEdges);
    if (result == CUDA_SUCCESS && edgeData && from)
        std::fill_n(edgeData, *numEdges, CUgraphEdgeData{});
    return result;
}
#endif

} // namespace api
} // namespace simgpu
