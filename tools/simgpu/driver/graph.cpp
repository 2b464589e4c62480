// tools/simgpu/driver/graph.cpp — make, copy, order, instantiate and launch graphs.
#include "tools/simgpu/driver/graph.hpp"

#include "api.hpp"

#include <algorithm>
#include <functional>

namespace simgpu {
namespace {

constexpr unsigned long long kKnownFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
#if CUDA_VERSION >= 12000
    | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
#endif
    ;

Slots<GraphExec>& graph_execs()
{
    static auto* all = new Slots<GraphExec>;
    return *all;
}

// Each node after what it depends on; nothing if there is a cycle.
std::optional<std::vector<GraphNode*>> ordered(const Graph& graph)
{
    std::vector<GraphNode*> order;
    std::map<GraphNode*, bool> done; // present and false: on the way down
    std::function<bool(GraphNode*)> visit = [&](GraphNode* node) {
        const auto [entry, fresh] = done.emplace(node, false);
        if (!fresh)
            return entry->second;
        for (GraphNode* before : node->dependencies)
            if (!visit(before))
                return false;
        order.push_back(node);
        done[node] = true;
        return true;
    };
    for (GraphNode* node : graph.nodes)
        if (!visit(node))
            return std::nullopt;
    return order;
}

bool add_steps_locked(const Graph& graph, std::vector<GraphStep>& steps)
{
    const auto order = ordered(graph);
    if (!order)
        return false;
    for (GraphNode* node : *order) {
        if (const auto* child = std::get_if<ChildGraph>(&node->detail)) {
            if (!add_steps_locked(*child->graph, steps))
                return false;
            continue;
        }
        GraphStep step{node, node->work};
        if (const auto* allocation = std::get_if<GraphAllocation>(&node->detail))
            step.allocates = allocation->address;
        if (const auto* free = std::get_if<GraphFree>(&node->detail))
            step.frees = free->address;
        steps.push_back(std::move(step));
    }
    return true;
}

void hold(const std::vector<GraphStep>& steps)
{
    for (const GraphStep& step : steps)
        if (step.allocates)
            hold_graph_memory(step.allocates);
}

void let_go(const std::vector<GraphStep>& steps)
{
    for (const GraphStep& step : steps)
        if (step.allocates)
            let_go_of_graph_memory(step.allocates);
}

CUresult instantiate(CUgraphExec* handle, CUgraph graph_handle, unsigned long long flags)
{
    if (!handle || (flags & ~kKnownFlags) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(capture_mutex());
    const Graph* graph = graphs().find(graph_handle);
    auto steps = std::make_shared<std::vector<GraphStep>>();
    if (!graph || !add_steps_locked(*graph, *steps))
        return CUDA_ERROR_INVALID_VALUE;
    hold(*steps);
    GraphExec* exec = graph_execs().make();
    exec->flags = flags;
    exec->steps = std::move(steps);
    *handle = reinterpret_cast<CUgraphExec>(exec);
    return CUDA_SUCCESS;
}

// Memory is allocated at the launch, as the caller learns of a failure there; frees happen in
// stream order.
CUresult activate(const GraphExec& exec)
{
    const auto freed_inside = [&exec](CUdeviceptr address) {
        return std::any_of(exec.steps->begin(), exec.steps->end(),
                           [address](const GraphStep& step) { return step.frees == address; });
    };
    const bool auto_free = (exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    std::vector<CUdeviceptr> activated;
    for (const GraphStep& step : *exec.steps) {
        if (!step.allocates)
            continue;
        if (const CUresult error =
                activate_graph_memory(step.allocates, auto_free || freed_inside(step.allocates))) {
            for (const CUdeviceptr address : activated)
                free_graph_memory(address);
            return error;
        }
        activated.push_back(step.allocates);
    }
    return CUDA_SUCCESS;
}

CUresult run_steps(const std::vector<GraphStep>& steps)
{
    for (const GraphStep& step : steps) {
        CUresult result = CUDA_SUCCESS;
        if (step.allocates)
            result = activate_graph_memory(step.allocates, true);
        else if (step.frees)
            free_graph_memory(step.frees);
        else if (step.work.run)
            result = step.work.run();
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

CUresult set_step(CUgraphExec handle, CUgraphNode node_handle, CUresult made, Work work)
{
    if (made != CUDA_SUCCESS)
        return made;
    const std::lock_guard lock(capture_mutex());
    GraphExec* exec = graph_execs().find(handle);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    // Launches already queued keep the steps they were launched with.
    auto steps = std::make_shared<std::vector<GraphStep>>(*exec->steps);
    const auto step =
        std::find_if(steps->begin(), steps->end(), [node_handle](const GraphStep& known) {
            return known.node == reinterpret_cast<GraphNode*>(node_handle);
        });
    if (step == steps->end())
        return CUDA_ERROR_INVALID_VALUE;
    step->work = std::move(work);
    exec->steps = std::move(steps);
    return CUDA_SUCCESS;
}

} // namespace

Slots<Graph>& graphs()
{
    static auto* all = new Slots<Graph>;
    return *all;
}

Slots<GraphNode>& graph_nodes()
{
    static auto* all = new Slots<GraphNode>;
    return *all;
}

Graph* open_graph()
{
    return graphs().make();
}

GraphNode* add_node_locked(Graph& graph, std::vector<GraphNode*> dependencies, CUgraphNodeType type,
                           Work work, NodeDetail detail)
{
    GraphNode* node = graph_nodes().make();
    node->graph = &graph;
    node->type = type;
    node->work = std::move(work);
    node->detail = std::move(detail);
    node->dependencies = std::move(dependencies);
    graph.nodes.push_back(node);
    return node;
}

void remove_node_locked(GraphNode& node)
{
    if (const auto* allocation = std::get_if<GraphAllocation>(&node.detail))
        let_go_of_graph_memory(allocation->address);
    if (const auto* child = std::get_if<ChildGraph>(&node.detail))
        close_graph_locked(*child->graph);
    for (GraphNode* other : node.graph->nodes)
        std::erase(other->dependencies, &node);
    std::erase(node.graph->nodes, &node);
    node.work = {};
    node.detail = {};
    node.dependencies.clear();
    graph_nodes().retire(&node);
}

void close_graph_locked(Graph& graph)
{
    while (!graph.nodes.empty())
        remove_node_locked(*graph.nodes.back());
    graphs().retire(&graph);
}

namespace api {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags)
{
    return instantiate(phGraphExec, hGraph, flags);
}

CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode*, char*, size_t)
{
    return instantiate(phGraphExec, hGraph, 0);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode*, char*,
                               size_t)
{
    return instantiate(phGraphExec, hGraph, 0);
}

#if CUDA_VERSION >= 12000
CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams)
{
    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = instantiate(phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags)
{
    const GraphExec* exec = graph_execs().find(hGraphExec);
    if (!exec || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}
#endif

CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    Context* context = nullptr;
    Stream* stream = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    if (const CUresult error = resolve_stream(hStream, *context, stream))
        return error;
    return graph_execs().find(hGraph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    Context* context = nullptr;
    Stream* stream = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    if (const CUresult error = resolve_stream(hStream, *context, stream))
        return error;
    std::shared_ptr<std::vector<GraphStep>> steps;
    {
        const std::lock_guard lock(capture_mutex());
        const GraphExec* exec = graph_execs().find(hGraph);
        if (!exec)
            return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult error = activate(*exec))
            return error;
        steps = exec->steps;
    }
    Submission submission;
    submission.type = CU_GRAPH_NODE_TYPE_GRAPH;
    for (const GraphStep& step : *steps)
        submission.work.touches.insert(submission.work.touches.end(), step.work.touches.begin(),
                                       step.work.touches.end());
    submission.work.run = [steps] { return run_steps(*steps); };
    return submit(*stream, std::move(submission));
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    const std::lock_guard lock(capture_mutex());
    GraphExec* exec = graph_execs().find(hGraphExec);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    let_go(*exec->steps);
    exec->steps = nullptr;
    graph_execs().retire(exec);
    return CUDA_SUCCESS;
}

static CUresult update(CUgraphExec hGraphExec, CUgraph hGraph)
{
    const std::lock_guard lock(capture_mutex());
    GraphExec* exec = graph_execs().find(hGraphExec);
    const Graph* graph = graphs().find(hGraph);
    auto steps = std::make_shared<std::vector<GraphStep>>();
    if (!exec || !graph || !add_steps_locked(*graph, *steps))
        return CUDA_ERROR_INVALID_VALUE;
    const auto same_kind = [](const GraphStep& before, const GraphStep& after) {
        return !before.allocates && !after.allocates && !before.frees == !after.frees;
    };
    if (!std::equal(steps->begin(), steps->end(), exec->steps->begin(), exec->steps->end(),
                    same_kind))
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    exec->steps = std::move(steps);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                           CUgraphExecUpdateResult* updateResult_out)
{
    const CUresult result = update(hGraphExec, hGraph);
    if (hErrorNode_out)
        *hErrorNode_out = nullptr;
    if (updateResult_out)
        *updateResult_out = result == CUDA_SUCCESS ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                   : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return result;
}

#if CUDA_VERSION >= 12000
CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo)
{
    if (!resultInfo)
        return CUDA_ERROR_INVALID_VALUE;
    *resultInfo = {};
    return api::cuGraphExecUpdate(hGraphExec, hGraph, nullptr, &resultInfo->result);
}

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
