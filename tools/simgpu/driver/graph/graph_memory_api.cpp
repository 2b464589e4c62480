// tools/simgpu/driver/graph/graph_memory_api.cpp — add and ask nodes that allocate and free memory.
#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"

namespace simgpu {
namespace {

CUresult check(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters)
{
    const auto& properties = parameters.poolProps;
    if (properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE || !device_at(properties.location.id) ||
        parameters.accessDescCount > devices().size() ||
        (parameters.accessDescCount > 0 && !parameters.accessDescs))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

} // namespace

CUresult add_allocation_node(const NodePlace& place, CUDA_MEM_ALLOC_NODE_PARAMS& parameters)
{
    if (const CUresult error = check(parameters))
        return error;
    const std::lock_guard lock(capture_mutex());
    Graph* graph = nullptr;
    std::vector<GraphNode*> after;
    if (const CUresult error = resolve_locked(place, graph, after))
        return error;
    Device& device = *device_at(parameters.poolProps.location.id);
    GraphAllocation detail{0, parameters, {}};
    if (const CUresult error =
            plan_graph_memory(device, parameters.bytesize, *graph, detail.address))
        return error;
    detail.parameters.dptr = detail.address;
    detail.access.assign(parameters.accessDescs,
                         parameters.accessDescs + parameters.accessDescCount);
    parameters.dptr = detail.address;
    *place.handle = reinterpret_cast<CUgraphNode>(add_node_locked(
        *graph, std::move(after), CU_GRAPH_NODE_TYPE_MEM_ALLOC, {}, std::move(detail)));
    return CUDA_SUCCESS;
}

CUresult add_free_node(const NodePlace& place, CUdeviceptr address)
{
    const std::lock_guard lock(capture_mutex());
    Graph* graph = nullptr;
    std::vector<GraphNode*> after;
    if (const CUresult error = resolve_locked(place, graph, after))
        return error;
    if (const CUresult error = claim_graph_free(address, *graph))
        return error;
    *place.handle = reinterpret_cast<CUgraphNode>(add_node_locked(
        *graph, std::move(after), CU_GRAPH_NODE_TYPE_MEM_FREE, {}, GraphFree{address}));
    return CUDA_SUCCESS;
}

namespace api {

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                const CUgraphNode* dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams)
{
    return nodeParams ? add_allocation_node({phGraphNode, hGraph, dependencies, numDependencies},
                                            *nodeParams)
                      : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                               const CUgraphNode* dependencies, size_t numDependencies,
                               CUdeviceptr dptr)
{
    return add_free_node({phGraphNode, hGraph, dependencies, numDependencies}, dptr);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = slots<GraphNode>().find(hNode);
    const auto* allocation = node ? std::get_if<GraphAllocation>(&node->detail) : nullptr;
    if (!allocation || !params_out)
        return CUDA_ERROR_INVALID_VALUE;
    *params_out = allocation->parameters;
    params_out->accessDescs = allocation->access.empty() ? nullptr : allocation->access.data();
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = slots<GraphNode>().find(hNode);
    const auto* free = node ? std::get_if<GraphFree>(&node->detail) : nullptr;
    if (!free || !dptr_out)
        return CUDA_ERROR_INVALID_VALUE;
    *dptr_out = free->address;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
