// tools/simgpu/driver/graph/graph_exec_params_api.cpp — change a node of an executable graph.
//
// Launches that are already queued keep the steps that they were launched with.
#include <algorithm>

#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"

namespace simgpu {
namespace {

using Steps = std::vector<GraphStep>;

// `change` gets a copy of the steps, which replaces the graph's if it succeeds.
template <class Change>
CUresult change_steps_locked(CUgraphExec handle, Change change)
{
    GraphExec* exec = slots<GraphExec>().find(handle);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    Steps steps = exec->steps->list;
    if (const CUresult error = change(steps))
        return error;
    exec->steps = std::make_shared<const GraphSteps>(std::move(steps));
    return CUDA_SUCCESS;
}

CUresult set_work(Steps& steps, const GraphNode& node, Work work)
{
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [&node](const GraphStep& known) { return known.node == &node; });
    if (step == steps.end())
        return CUDA_ERROR_INVALID_VALUE;
    (step->disabled ? *step->disabled : step->work) = std::move(work);
    return CUDA_SUCCESS;
}

// Only kernels, fills and copies can be disabled (cuda.h).
bool can_be_disabled(const GraphNode& node)
{
    return node.type == CU_GRAPH_NODE_TYPE_KERNEL || node.type == CU_GRAPH_NODE_TYPE_MEMSET ||
           node.type == CU_GRAPH_NODE_TYPE_MEMCPY;
}

void enable(GraphStep& step, bool enabled)
{
    if (enabled == !step.disabled)
        return;
    if (enabled) {
        step.work = std::move(*step.disabled);
        step.disabled.reset();
    } else {
        step.disabled = std::move(step.work);
        step.work = {};
    }
}

// `use` gets the step of a node that can be disabled.
template <class Use>
CUresult with_step_locked(Steps& steps, CUgraphNode handle, Use use)
{
    const GraphNode* const node = slots<GraphNode>().find(handle);
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [node](const GraphStep& known) { return known.node == node; });
    if (!node || !can_be_disabled(*node) || step == steps.end())
        return CUDA_ERROR_INVALID_VALUE;
    use(*step);
    return CUDA_SUCCESS;
}

template <class Parameters>
CUresult set_step(CUgraphExec handle, CUgraphNode node_handle, CUgraphNodeType type,
                  const Parameters* parameters)
{
    Work work;
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = make_work(*parameters, work))
        return error;
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = slots<GraphNode>().find(node_handle);
    if (!node || node->type != type)
        return CUDA_ERROR_INVALID_VALUE;
    return change_steps_locked(
        handle, [&](Steps& steps) { return set_work(steps, *node, std::move(work)); });
}

// Addresses and values may change. The context, the number and the kinds of operations
// may not (cuda.h).
bool may_become(const BatchedOperations& now, const BatchedOperations& then)
{
    const auto same_kind = [](const auto& before, const auto& after) {
        return before.operation == after.operation &&
               before.writeValue.flags == after.writeValue.flags;
    };
    return now.context == then.context && std::equal(now.list.begin(), now.list.end(),
                                                     then.list.begin(), then.list.end(), same_kind);
}

CUresult set_batch(CUgraphExec handle, CUgraphNode node_handle,
                   const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters)
{
    BatchedOperations given{};
    if (const CUresult error = copy_operations(parameters, given))
        return error;
    {
        const std::lock_guard lock(capture_mutex());
        const GraphNode* node = slots<GraphNode>().find(node_handle);
        const auto* now = node ? std::get_if<BatchedOperations>(&node->detail) : nullptr;
        if (!now || !may_become(*now, given))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return set_step(handle, node_handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &given);
}

using Pairs = std::vector<std::pair<const GraphNode*, const GraphNode*>>;

// The node of the other graph that was added in the same place.
const GraphNode* partner(const Graph& before, const Graph& after, const GraphNode* node)
{
    const auto found = std::find(before.nodes.begin(), before.nodes.end(), node);
    return after.nodes[static_cast<std::size_t>(found - before.nodes.begin())];
}

// Pairs the nodes of two graphs of the same shape, and those of their child graphs; false if
// the shapes differ.
bool pair_locked(const Graph& before, const Graph& after, Pairs& pairs)
{
    if (before.nodes.size() != after.nodes.size())
        return false;
    for (std::size_t index = 0; index < before.nodes.size(); ++index) {
        const GraphNode* now = before.nodes[index];
        const GraphNode* then = after.nodes[index];
        if (now->type != then->type || now->dependencies.size() != then->dependencies.size())
            return false;
        for (const GraphNode* node : now->dependencies)
            if (std::count(then->dependencies.begin(), then->dependencies.end(),
                           partner(before, after, node)) == 0)
                return false;
        const auto* child = std::get_if<ChildGraph>(&now->detail);
        const auto* other = std::get_if<ChildGraph>(&then->detail);
        if (!child && !other)
            pairs.emplace_back(now, then);
        else if (!child || !other || !pair_locked(*child->graph, *other->graph, pairs))
            return false;
    }
    return true;
}

CUresult set_child(CUgraphExec handle, CUgraphNode node_handle, CUgraph child_handle)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* node = slots<GraphNode>().find(node_handle);
    const auto* now = node ? std::get_if<ChildGraph>(&node->detail) : nullptr;
    const Graph* then = slots<Graph>().find(child_handle);
    Pairs pairs;
    if (!now || !then || has_memory_nodes_locked(*then) || !pair_locked(*now->graph, *then, pairs))
        return CUDA_ERROR_INVALID_VALUE;
    return change_steps_locked(handle, [&pairs](Steps& steps) {
        for (const auto& [known, given] : pairs)
            if (const CUresult error = set_work(steps, *known, given->work))
                return error;
        return CUDA_SUCCESS;
    });
}

#if CUDA_VERSION >= 12020
template <class Given>
CUresult set_kept(CUgraphExec handle, CUgraphNode node, CUgraphNodeType type, const Given& given)
{
    const auto parameters = kept_form(given);
    return set_step(handle, node, type, &parameters);
}

CUresult set_any(CUgraphExec handle, CUgraphNode node, const CUgraphNodeParams& given)
{
    switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return set_kept(handle, node, given.type, given.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return set_step(handle, node, given.type, &given.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return set_kept(handle, node, given.type, given.memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        return set_kept(handle, node, given.type, given.host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return set_child(handle, node, given.graph.graph);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
        const CUDA_BATCH_MEM_OP_NODE_PARAMS parameters = kept_form(given.memOp);
        return set_batch(handle, node, &parameters);
    }
    default: // memory cannot be changed; other kinds are not simulated
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}
#endif

} // namespace

namespace api {

#if CUDA_VERSION >= 12000
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    return set_step(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams);
}
#endif

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams)
{
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widen(*nodeParams);
    return set_step(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, &wide);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* copyParams, CUcontext)
{
    return set_step(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY, copyParams);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext)
{
    return set_step(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET, memsetParams);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    return set_step(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams)
{
    return set_batch(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph)
{
    return set_child(hGraphExec, hNode, childGraph);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    const std::lock_guard lock(capture_mutex());
    return change_steps_locked(hGraphExec, [&](Steps& steps) {
        return with_step_locked(steps, hNode,
                                [&](GraphStep& step) { enable(step, isEnabled != 0); });
    });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled)
{
    const std::lock_guard lock(capture_mutex());
    const GraphExec* const exec = slots<GraphExec>().find(hGraphExec);
    if (!exec || !isEnabled)
        return CUDA_ERROR_INVALID_VALUE;
    Steps steps = exec->steps->list;
    return with_step_locked(steps, hNode,
                            [&](const GraphStep& step) { *isEnabled = step.disabled ? 0 : 1; });
}

#if CUDA_VERSION >= 12020
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams* nodeParams)
{
    return nodeParams ? set_any(hGraphExec, hNode, *nodeParams) : CUDA_ERROR_INVALID_VALUE;
}
#endif

} // namespace api
} // namespace simgpu
