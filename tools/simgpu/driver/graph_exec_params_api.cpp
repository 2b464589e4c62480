// tools/simgpu/driver/graph_exec_params_api.cpp — change what a node of an executable graph does.
#include "tools/simgpu/driver/graph.hpp"

#include "api.hpp"

#include <algorithm>

namespace simgpu {
namespace {

CUresult set_step(CUgraphExec handle, CUgraphNode node_handle, CUresult made, Work work)
{
    if (made != CUDA_SUCCESS)
        return made;
    const std::lock_guard lock(capture_mutex());
    GraphExec* exec = graph_execs().find(handle);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    // Launches already queued keep the steps they were launched with.
    auto steps = exec->steps->list;
    const auto step =
        std::find_if(steps.begin(), steps.end(), [node_handle](const GraphStep& known) {
            return known.node == reinterpret_cast<GraphNode*>(node_handle);
        });
    if (step == steps.end())
        return CUDA_ERROR_INVALID_VALUE;
    step->work = std::move(work);
    exec->steps = std::make_shared<const GraphSteps>(std::move(steps));
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

#if CUDA_VERSION >= 12000
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    Work work;
    const CUresult made = nodeParams ? make_work(*nodeParams, work) : CUDA_ERROR_INVALID_VALUE;
    return set_step(hGraphExec, hNode, made, std::move(work));
}
#endif

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams)
{
    Work work;
    const CUresult made =
        nodeParams ? make_work(widen(*nodeParams), work) : CUDA_ERROR_INVALID_VALUE;
    return set_step(hGraphExec, hNode, made, std::move(work));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* copyParams, CUcontext)
{
    Work work;
    const CUresult made = copyParams ? make_work(*copyParams, work) : CUDA_ERROR_INVALID_VALUE;
    return set_step(hGraphExec, hNode, made, std::move(work));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext)
{
    Work work;
    const CUresult made = memsetParams ? make_work(*memsetParams, work) : CUDA_ERROR_INVALID_VALUE;
    return set_step(hGraphExec, hNode, made, std::move(work));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    Work work;
    const CUresult made = nodeParams ? make_work(*nodeParams, work) : CUDA_ERROR_INVALID_VALUE;
    return set_step(hGraphExec, hNode, made, std::move(work));
}

} // namespace api
} // namespace simgpu
