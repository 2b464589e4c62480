// tools/simgpu/driver/graph_api.cpp — build graphs: make, copy, add nodes, change what they do.
#include "tools/simgpu/driver/event.hpp"
#include "tools/simgpu/driver/graph.hpp"

#include "api.hpp"

#include <algorithm>

namespace simgpu {
namespace {

// Adds a node after the given ones. The detail is what the node's GetParams tells.
CUresult add(CUgraphNode* handle, CUgraph graph_handle, const CUgraphNode* dependencies,
             std::size_t count, CUgraphNodeType type, Work work, NodeDetail detail = {})
{
    if (!handle || (count > 0 && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(capture_mutex());
    Graph* graph = graphs().find(graph_handle);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<GraphNode*> after;
    for (std::size_t index = 0; index < count; ++index) {
        after.push_back(graph_nodes().find(dependencies[index]));
        if (!after.back() || after.back()->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    *handle = reinterpret_cast<CUgraphNode>(
        add_node_locked(*graph, std::move(after), type, std::move(work), std::move(detail)));
    return CUDA_SUCCESS;
}

template <class Parameters>
CUresult add_with(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies,
                  std::size_t count, CUgraphNodeType type, const Parameters* parameters)
{
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    Work work;
    if (const CUresult error = make_work(*parameters, work))
        return error;
    return add(handle, graph, dependencies, count, type, std::move(work), *parameters);
}

template <class Parameters>
CUresult get(CUgraphNode handle, Parameters* out)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = graph_nodes().find(handle);
    const auto* parameters = node ? std::get_if<Parameters>(&node->detail) : nullptr;
    if (!parameters || !out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = *parameters;
    return CUDA_SUCCESS;
}

template <class Parameters>
CUresult set(CUgraphNode handle, const Parameters* parameters)
{
    Work work;
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = make_work(*parameters, work))
        return error;
    const std::lock_guard lock(capture_mutex());
    GraphNode* node = graph_nodes().find(handle);
    if (!node || !std::holds_alternative<Parameters>(node->detail))
        return CUDA_ERROR_INVALID_VALUE;
    node->work = std::move(work);
    node->detail = *parameters;
    return CUDA_SUCCESS;
}

CUresult add_allocation(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies,
                        std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS& parameters)
{
    const auto& properties = parameters.poolProps;
    Device* device = device_at(properties.location.id);
    if (properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE || !device)
        return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address = 0;
    if (const CUresult error = plan_graph_memory(*device, parameters.bytesize, address))
        return error;
    GraphAllocation detail{address, parameters};
    detail.parameters.dptr = address;
    const CUresult result =
        add(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEM_ALLOC, {}, detail);
    if (result == CUDA_SUCCESS)
        parameters.dptr = address;
    else
        let_go_of_graph_memory(address);
    return result;
}

CUresult add_free(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies,
                  std::size_t count, CUdeviceptr address)
{
    if (!is_graph_memory(address))
        return CUDA_ERROR_INVALID_VALUE;
    return add(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEM_FREE, {},
               GraphFree{address});
}

// Copies nodes with their dependencies; a graph that owns memory cannot be copied, as on a device.
CUresult clone_locked(const Graph& from, Graph& to)
{
    std::map<GraphNode*, GraphNode*> copies;
    for (GraphNode* node : from.nodes) {
        if (std::holds_alternative<GraphAllocation>(node->detail) ||
            std::holds_alternative<GraphFree>(node->detail))
            return CUDA_ERROR_NOT_SUPPORTED;
        NodeDetail detail = node->detail;
        if (auto* child = std::get_if<ChildGraph>(&detail)) {
            Graph* copy = open_graph();
            if (const CUresult error = clone_locked(*child->graph, *copy)) {
                close_graph_locked(*copy);
                return error;
            }
            child->graph = copy;
        }
        copies[node] = add_node_locked(to, {}, node->type, node->work, std::move(detail));
    }
    for (GraphNode* node : from.nodes)
        for (GraphNode* before : node->dependencies)
            copies[node]->dependencies.push_back(copies[before]);
    return CUDA_SUCCESS;
}

Work event_work(Event& event)
{
    const auto time = std::make_shared<EventTime>();
    event.time = time;
    Work work;
    work.run = [time] {
        time->at = std::chrono::steady_clock::now();
        time->set.store(true, std::memory_order_release);
        return CUDA_SUCCESS;
    };
    return work;
}

} // namespace

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
    Graph* graph = graphs().find(hGraph);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    close_graph_locked(*graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode)
{
    const std::lock_guard lock(capture_mutex());
    GraphNode* node = graph_nodes().find(hNode);
    if (!node)
        return CUDA_ERROR_INVALID_VALUE;
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return CUDA_ERROR_NOT_SUPPORTED;
    remove_node_locked(*node);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph)
{
    const std::lock_guard lock(capture_mutex());
    const Graph* original = graphs().find(originalGraph);
    if (!phGraphClone || !original)
        return CUDA_ERROR_INVALID_VALUE;
    Graph* copy = open_graph();
    const CUresult result = clone_locked(*original, *copy);
    if (result == CUDA_SUCCESS)
        *phGraphClone = reinterpret_cast<CUgraph>(copy);
    else
        close_graph_locked(*copy);
    return result;
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, size_t numDependencies)
{
    return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_EMPTY, {});
}

CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams)
{
    const CUDA_KERNEL_NODE_PARAMS wide =
        nodeParams ? widen(*nodeParams) : CUDA_KERNEL_NODE_PARAMS{};
    return add_with(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_KERNEL,
                    nodeParams ? &wide : nullptr);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D* copyParams, CUcontext)
{
    return add_with(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_MEMCPY,
                    copyParams);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext)
{
    return add_with(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_MEMSET,
                    memsetParams);
}

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    return add_with(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_HOST,
                    nodeParams);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  CUgraph childGraph)
{
    CUgraph copy = nullptr;
    if (const CUresult error = api::cuGraphClone(&copy, childGraph))
        return error;
    const CUresult result =
        add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_GRAPH, {},
            ChildGraph{reinterpret_cast<Graph*>(copy)});
    if (result != CUDA_SUCCESS)
        api::cuGraphDestroy(copy);
    return result;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, size_t numDependencies,
                                   CUevent event)
{
    Event* found = events().find(event);
    return found ? add(phGraphNode, hGraph, dependencies, numDependencies,
                       CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_work(*found))
                 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 CUevent event)
{
    Event* found = events().find(event);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    Work work;
    work.run = [mark = found->mark] {
        finish(mark);
        return CUDA_SUCCESS;
    };
    return add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
               std::move(work));
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                const CUgraphNode* dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams)
{
    return nodeParams
               ? add_allocation(phGraphNode, hGraph, dependencies, numDependencies, *nodeParams)
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                               const CUgraphNode* dependencies, size_t numDependencies,
                               CUdeviceptr dptr)
{
    return add_free(phGraphNode, hGraph, dependencies, numDependencies, dptr);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out)
{
    GraphAllocation found{};
    if (!params_out || get(hNode, &found) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    *params_out = found.parameters;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out)
{
    GraphFree found{};
    if (!dptr_out || get(hNode, &found) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    *dptr_out = found.address;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams)
{
    return get(hNode, nodeParams);
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams)
{
    return set(hNode, nodeParams);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams)
{
    return get(hNode, nodeParams);
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams)
{
    return set(hNode, nodeParams);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams)
{
    return get(hNode, nodeParams);
}
CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    return set(hNode, nodeParams);
}

#if CUDA_VERSION >= 12000
CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    return add_with(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_KERNEL,
                    nodeParams);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    return get(hNode, nodeParams);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    return set(hNode, nodeParams);
}
#endif

#if CUDA_VERSION >= 12020
CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        size_t numDependencies, CUgraphNodeParams* nodeParams)
{
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_EMPTY)
        return api::cuGraphAddEmptyNode(phGraphNode, hGraph, dependencies, numDependencies);
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return add_free(phGraphNode, hGraph, dependencies, numDependencies, nodeParams->free.dptr);
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
        parameters.poolProps = nodeParams->alloc.poolProps;
        parameters.bytesize = nodeParams->alloc.bytesize;
        const CUresult result =
            add_allocation(phGraphNode, hGraph, dependencies, numDependencies, parameters);
        if (result == CUDA_SUCCESS)
            nodeParams->alloc.dptr = parameters.dptr;
        return result;
    }
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_HOST) {
        CUDA_HOST_NODE_PARAMS parameters{};
        parameters.fn = nodeParams->host.fn;
        parameters.userData = nodeParams->host.userData;
        return add_with(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_HOST,
                        &parameters);
    }
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        return add_with(phGraphNode, hGraph, dependencies, numDependencies,
                        CU_GRAPH_NODE_TYPE_MEMCPY, &nodeParams->memcpy.copyParams);
    return CUDA_ERROR_NOT_SUPPORTED;
}
#endif

#if CUDA_VERSION >= 12030
CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData*,
                           size_t numDependencies, CUgraphNodeParams* nodeParams)
{
    return api::cuGraphAddNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}
#endif

} // namespace api
} // namespace simgpu
