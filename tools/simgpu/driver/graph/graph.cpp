// tools/simgpu/driver/graph/graph.cpp — graphs and their nodes: make, copy, take apart.
#include "tools/simgpu/driver/graph/graph.hpp"

#include <algorithm>

#include "api.hpp"

namespace simgpu {
namespace {

// Copies nodes with their dependencies.
void clone_locked(const Graph& from, Graph& to)
{
    std::map<GraphNode*, GraphNode*> copies;
    for (GraphNode* node : from.nodes) {
        NodeDetail detail = node->detail;
        if (auto* child = std::get_if<ChildGraph>(&detail)) {
            Graph* copy = open_graph();
            clone_locked(*child->graph, *copy);
            copy->is_child = true;
            child->graph = copy;
        }
        GraphNode* const copy = add_node_locked(to, {}, node->type, node->work, std::move(detail));
        copy->clone_of = node->id;
        copy->attributes = node->attributes;
        copies[node] = copy;
    }
    for (GraphNode* node : from.nodes)
        for (GraphNode* before : node->dependencies)
            copies[node]->dependencies.push_back(copies[before]);
}

} // namespace

Graph* open_graph()
{
    static std::atomic<std::uint64_t> last_id{0};
    Graph* graph = slots<Graph>().make();
    graph->id = ++last_id;
    graph->captured = false;
    graph->is_child = false;
    return graph;
}

bool has_memory_nodes_locked(const Graph& graph)
{
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const GraphNode* node) {
        const auto* child = std::get_if<ChildGraph>(&node->detail);
        return node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
               node->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
               (child && has_memory_nodes_locked(*child->graph));
    });
}

GraphNode* add_node_locked(Graph& graph, std::vector<GraphNode*> dependencies, CUgraphNodeType type,
                           Work work, NodeDetail detail)
{
    static std::uint64_t last_id = 0;
    GraphNode* node = slots<GraphNode>().make();
    node->id = ++last_id;
    node->clone_of = 0;
    node->graph = &graph;
    node->type = type;
    node->work = std::move(work);
    node->detail = std::move(detail);
    node->dependencies = std::move(dependencies);
    graph.nodes.push_back(node);
    return node;
}

CUresult resolve_locked(const NodePlace& place, Graph*& graph, std::vector<GraphNode*>& after)
{
    graph = slots<Graph>().find(place.graph);
    if (!graph || !place.handle || (place.count > 0 && !place.dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t index = 0; index < place.count; ++index) {
        after.push_back(slots<GraphNode>().find(place.dependencies[index]));
        if (!after.back() || after.back()->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult add_node(const NodePlace& place, CUgraphNodeType type, Work work, NodeDetail detail)
{
    const std::lock_guard lock(capture_mutex());
    Graph* graph = nullptr;
    std::vector<GraphNode*> after;
    if (const CUresult error = resolve_locked(place, graph, after))
        return error;
    *place.handle = reinterpret_cast<CUgraphNode>(
        add_node_locked(*graph, std::move(after), type, std::move(work), std::move(detail)));
    return CUDA_SUCCESS;
}

void remove_node_locked(GraphNode& node)
{
    if (const auto* allocation = std::get_if<GraphAllocation>(&node.detail))
        let_go_of_graph_memory(allocation->address);
    if (const auto* free = std::get_if<GraphFree>(&node.detail))
        let_go_of_graph_memory(free->address);
    if (const auto* child = std::get_if<ChildGraph>(&node.detail))
        close_graph_locked(*child->graph);
    for (GraphNode* other : node.graph->nodes)
        std::erase(other->dependencies, &node);
    std::erase(node.graph->nodes, &node);
    node.work = {};
    node.detail = {};
    node.dependencies.clear();
    node.attributes.clear();
    slots<GraphNode>().retire(&node);
}

void close_graph_locked(Graph& graph)
{
    while (!graph.nodes.empty())
        remove_node_locked(*graph.nodes.back());
    slots<Graph>().retire(&graph);
}

namespace api {

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags)
{
    if (!phGraph || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = reinterpret_cast<CUgraph>(open_graph());
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
    const std::lock_guard lock(capture_mutex());
    Graph* graph = slots<Graph>().find(hGraph);
    if (!graph || graph->captured || graph->is_child)
        return CUDA_ERROR_INVALID_VALUE;
    close_graph_locked(*graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode)
{
    const std::lock_guard lock(capture_mutex());
    GraphNode* node = slots<GraphNode>().find(hNode);
    if (!node || node->graph->captured)
        return CUDA_ERROR_INVALID_VALUE;
    if (has_memory_nodes_locked(*node->graph))
        return CUDA_ERROR_NOT_SUPPORTED;
    remove_node_locked(*node);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph)
{
    const std::lock_guard lock(capture_mutex());
    const Graph* original = slots<Graph>().find(originalGraph);
    if (!phGraphClone || !original)
        return CUDA_ERROR_INVALID_VALUE;
    if (has_memory_nodes_locked(*original))
        return CUDA_ERROR_NOT_SUPPORTED;
    Graph* copy = open_graph();
    clone_locked(*original, *copy);
    *phGraphClone = reinterpret_cast<CUgraph>(copy);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* const original = slots<GraphNode>().find(hOriginalNode);
    const Graph* const clone = slots<Graph>().find(hClonedGraph);
    if (!phNode || !original || !clone)
        return CUDA_ERROR_INVALID_VALUE;
    const auto found =
        std::find_if(clone->nodes.begin(), clone->nodes.end(),
                     [original](const GraphNode* node) { return node->clone_of == original->id; });
    if (found == clone->nodes.end())
        return CUDA_ERROR_INVALID_VALUE;
    *phNode = reinterpret_cast<CUgraphNode>(*found);
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
