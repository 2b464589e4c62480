// tools/simgpu/driver/graph/graph_params_api.cpp — what a graph's node does: told, and changed.
#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"

namespace simgpu {
namespace {

template <class Parameters>
CUresult get(CUgraphNode handle, Parameters* out)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = slots<GraphNode>().find(handle);
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
    GraphNode* node = slots<GraphNode>().find(handle);
    if (!node || !std::holds_alternative<Parameters>(node->detail))
        return CUDA_ERROR_INVALID_VALUE;
    node->work = std::move(work);
    node->detail = *parameters;
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

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

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1* nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS known{};
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = get(hNode, &known);
    if (result == CUDA_SUCCESS)
        *nodeParams = narrow(known);
    return result;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams)
{
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widen(*nodeParams);
    return set(hNode, &wide);
}

#if CUDA_VERSION >= 12000
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    return get(hNode, nodeParams);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    return set(hNode, nodeParams);
}
#endif

} // namespace api
} // namespace simgpu
