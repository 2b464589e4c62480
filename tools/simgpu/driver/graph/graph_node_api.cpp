// tools/simgpu/driver/graph/graph_node_api.cpp — add nodes that do work, and child graphs.
#include <algorithm>

#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {
namespace {

template <class Parameters>
CUresult add_with(const NodePlace& place, CUgraphNodeType type, const Parameters* parameters)
{
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    Work work;
    if (const CUresult error = make_work(*parameters, work))
        return error;
    return add_node(place, type, std::move(work), *parameters);
}

CUresult add_copy(const NodePlace& place, CUgraph child)
{
    CUgraph copy = nullptr;
    if (const CUresult error = api::cuGraphClone(&copy, child))
        return error;
    auto* const graph = reinterpret_cast<Graph*>(copy);
    graph->is_child = true;
    const CUresult result = add_node(place, CU_GRAPH_NODE_TYPE_GRAPH, {}, ChildGraph{graph});
    if (result != CUDA_SUCCESS) {
        const std::lock_guard lock(capture_mutex());
        close_graph_locked(*graph);
    }
    return result;
}

#if CUDA_VERSION >= 12090
bool contains_locked(const Graph& outer, const Graph& inner)
{
    return &outer == &inner ||
           std::any_of(outer.nodes.begin(), outer.nodes.end(), [&inner](const GraphNode* node) {
               const auto* child = std::get_if<ChildGraph>(&node->detail);
               return child && contains_locked(*child->graph, inner);
           });
}

// The graph itself becomes the child, as a graph that owns memory cannot be copied.
CUresult add_moved(const NodePlace& place, CUgraph child_handle)
{
    {
        const std::lock_guard lock(capture_mutex());
        Graph* const child = slots<Graph>().find(child_handle);
        const Graph* const parent = slots<Graph>().find(place.graph);
        if (!child || !parent || child->captured || child->is_child ||
            contains_locked(*child, *parent))
            return CUDA_ERROR_INVALID_VALUE;
        child->is_child = true;
    }
    auto* const child = reinterpret_cast<Graph*>(child_handle);
    const CUresult result = add_node(place, CU_GRAPH_NODE_TYPE_GRAPH, {}, ChildGraph{child});
    if (result != CUDA_SUCCESS)
        child->is_child = false;
    return result;
}
#endif

CUresult add_batch(const NodePlace& place, const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters)
{
    BatchedOperations operations{};
    if (const CUresult error = copy_operations(parameters, operations))
        return error;
    return add_with(place, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &operations);
}

#if CUDA_VERSION >= 12020
template <class Given>
CUresult add_kept(const NodePlace& place, CUgraphNodeType type, const Given& given)
{
    const auto parameters = kept_form(given);
    return add_with(place, type, &parameters);
}

template <class Given>
CUresult add_allocation(const NodePlace& place, Given& given)
{
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps = given.poolProps;
    parameters.accessDescs = given.accessDescs;
    parameters.accessDescCount = given.accessDescCount;
    parameters.bytesize = given.bytesize;
    const CUresult result = add_allocation_node(place, parameters);
    if (result == CUDA_SUCCESS)
        given.dptr = parameters.dptr;
    return result;
}

CUresult add_child(const NodePlace& place, const CUDA_CHILD_GRAPH_NODE_PARAMS& given)
{
#if CUDA_VERSION >= 12090
    if (given.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        return add_moved(place, given.graph);
    if (given.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return CUDA_ERROR_INVALID_VALUE;
#endif
    return add_copy(place, given.graph);
}

CUresult add_any(const NodePlace& place, CUgraphNodeParams& given)
{
    switch (given.type) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return add_node(place, CU_GRAPH_NODE_TYPE_EMPTY, {});
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return add_kept(place, CU_GRAPH_NODE_TYPE_KERNEL, given.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return add_with(place, CU_GRAPH_NODE_TYPE_MEMCPY, &given.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return add_kept(place, CU_GRAPH_NODE_TYPE_MEMSET, given.memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        return add_kept(place, CU_GRAPH_NODE_TYPE_HOST, given.host);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
        const CUDA_BATCH_MEM_OP_NODE_PARAMS parameters = kept_form(given.memOp);
        return add_batch(place, &parameters);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return add_child(place, given.graph);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return add_allocation(place, given.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return add_free_node(place, given.free.dptr);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return api::cuGraphAddEventWaitNode(place.handle, place.graph, place.dependencies,
                                            place.count, given.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return api::cuGraphAddEventRecordNode(place.handle, place.graph, place.dependencies,
                                              place.count, given.eventRecord.event);
    default:
        return CUDA_ERROR_NOT_SUPPORTED; // conditional and semaphore nodes
    }
}
#endif

} // namespace

namespace api {

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, size_t numDependencies)
{
    return add_node({phGraphNode, hGraph, dependencies, numDependencies}, CU_GRAPH_NODE_TYPE_EMPTY,
                    {});
}

CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams)
{
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widen(*nodeParams);
    return add_with({phGraphNode, hGraph, dependencies, numDependencies}, CU_GRAPH_NODE_TYPE_KERNEL,
                    &wide);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D* copyParams, CUcontext)
{
    return add_with({phGraphNode, hGraph, dependencies, numDependencies}, CU_GRAPH_NODE_TYPE_MEMCPY,
                    copyParams);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext)
{
    return add_with({phGraphNode, hGraph, dependencies, numDependencies}, CU_GRAPH_NODE_TYPE_MEMSET,
                    memsetParams);
}

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    return add_with({phGraphNode, hGraph, dependencies, numDependencies}, CU_GRAPH_NODE_TYPE_HOST,
                    nodeParams);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams)
{
    return add_batch({phGraphNode, hGraph, dependencies, numDependencies}, nodeParams);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  CUgraph childGraph)
{
    return add_copy({phGraphNode, hGraph, dependencies, numDependencies}, childGraph);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = slots<GraphNode>().find(hNode);
    const auto* child = node ? std::get_if<ChildGraph>(&node->detail) : nullptr;
    if (!child || !phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = reinterpret_cast<CUgraph>(child->graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, size_t numDependencies,
                                   CUevent event)
{
    Event* found = slots<Event>().find(event);
    return found ? add_node({phGraphNode, hGraph, dependencies, numDependencies},
                            CU_GRAPH_NODE_TYPE_EVENT_RECORD, stamp(*found))
                 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 CUevent event)
{
    Event* found = slots<Event>().find(event);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    Work work;
    work.run = [mark = found->mark] {
        finish(mark);
        return CUDA_SUCCESS;
    };
    return add_node({phGraphNode, hGraph, dependencies, numDependencies},
                    CU_GRAPH_NODE_TYPE_WAIT_EVENT, std::move(work));
}

#if CUDA_VERSION >= 12000
CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    return add_with({phGraphNode, hGraph, dependencies, numDependencies}, CU_GRAPH_NODE_TYPE_KERNEL,
                    nodeParams);
}
#endif

#if CUDA_VERSION >= 12020
CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        size_t numDependencies, CUgraphNodeParams* nodeParams)
{
    return nodeParams ? add_any({phGraphNode, hGraph, dependencies, numDependencies}, *nodeParams)
                      : CUDA_ERROR_INVALID_VALUE;
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
