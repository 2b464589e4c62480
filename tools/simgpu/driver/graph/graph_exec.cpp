// tools/simgpu/driver/graph/graph_exec.cpp — instantiate and launch graphs.
#include <algorithm>
#include <functional>

#include "api.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"

namespace simgpu {
namespace {

#if CUDA_VERSION >= 12000
constexpr unsigned long long kDeviceLaunch = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
#else
constexpr unsigned long long kDeviceLaunch = 0; // CUDA 11 has no such flag
#endif
constexpr unsigned long long kFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                      CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY | kDeviceLaunch;
#if CUDA_VERSION >= 12000
constexpr unsigned long long kFlagsWithParams = kFlags | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
#endif

// The nodes in an order in which each comes after what it depends on. Nothing if there is a cycle.
std::optional<std::vector<GraphNode*>> ordered(const Graph& graph)
{
    std::vector<GraphNode*> order;
    std::map<GraphNode*, bool> done; // false while its dependencies are visited
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

// A graph with allocation or free nodes has only one executable form at a time (cuda.h).
bool has_exec(const Graph& graph)
{
    const auto all = slots<GraphExec>().all();
    return std::any_of(all.begin(), all.end(),
                       [&graph](const GraphExec* exec) { return exec->graph_id == graph.id; });
}

bool device_can_launch(const Graph& graph)
{
    return !graph.nodes.empty() &&
           std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const GraphNode* node) {
               return node->type == CU_GRAPH_NODE_TYPE_KERNEL ||
                      node->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                      node->type == CU_GRAPH_NODE_TYPE_MEMSET ||
                      node->type == CU_GRAPH_NODE_TYPE_GRAPH;
           });
}

bool flags_fit(const Graph& graph, unsigned long long flags)
{
    if ((flags & kDeviceLaunch) == 0)
        return true;
    return (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0 &&
           device_can_launch(graph);
}

CUresult instantiate(CUgraphExec* handle, CUgraph graph_handle, unsigned long long flags,
                     unsigned long long known_flags)
{
    if (!handle || (flags & ~known_flags) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(capture_mutex());
    const Graph* graph = slots<Graph>().find(graph_handle);
    std::vector<GraphStep> steps;
    if (!graph || !flags_fit(*graph, flags) || !add_steps_locked(*graph, steps) ||
        (has_memory_nodes_locked(*graph) && has_exec(*graph)))
        return CUDA_ERROR_INVALID_VALUE;
    OwnBytes own;
    Context* context = nullptr;
    if (current_context(context) == CUDA_SUCCESS &&
        !own.take(*context, steps.size() * object_bytes().graph_node))
        return CUDA_ERROR_OUT_OF_MEMORY;
    GraphExec* exec = slots<GraphExec>().make();
    exec->flags = flags;
    exec->graph_id = graph->id;
    exec->steps = std::make_shared<const GraphSteps>(std::move(steps));
    exec->own = own;
    *handle = reinterpret_cast<CUgraphExec>(exec);
    return CUDA_SUCCESS;
}

bool owns_memory(const GraphSteps& steps)
{
    return std::any_of(steps.list.begin(), steps.list.end(),
                       [](const GraphStep& step) { return step.allocates || step.frees; });
}

void free_all(const std::vector<CUdeviceptr>& addresses)
{
    for (const CUdeviceptr address : addresses)
        free_graph_memory(address);
}

// Memory is allocated at the launch, where the caller learns of a failure; frees happen in stream
// order. `fresh` is what must be freed again if the launch fails.
CUresult activate(const GraphExec& exec, std::vector<CUdeviceptr>& fresh)
{
    const auto& steps = exec.steps->list;
    const auto freed_inside = [&steps](CUdeviceptr address) {
        return std::any_of(steps.begin(), steps.end(),
                           [address](const GraphStep& step) { return step.frees == address; });
    };
    const bool auto_free = (exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    for (const GraphStep& step : steps) {
        if (!step.allocates)
            continue;
        bool is_fresh = false;
        if (const CUresult error = activate_graph_memory(
                step.allocates, auto_free || freed_inside(step.allocates), is_fresh)) {
            free_all(fresh);
            return error;
        }
        if (is_fresh)
            fresh.push_back(step.allocates);
    }
    return CUDA_SUCCESS;
}

CUresult run_steps(const GraphSteps& steps)
{
    for (const GraphStep& step : steps.list) {
        CUresult result = CUDA_SUCCESS;
        if (step.allocates)
            result = ensure_graph_memory(step.allocates);
        else if (step.frees)
            free_graph_memory(step.frees);
        else if (step.work.run)
            result = step.work.run();
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

CUresult update(CUgraphExec hGraphExec, CUgraph hGraph)
{
    const std::lock_guard lock(capture_mutex());
    GraphExec* exec = slots<GraphExec>().find(hGraphExec);
    const Graph* graph = slots<Graph>().find(hGraph);
    std::vector<GraphStep> steps;
    if (!exec || !graph || !add_steps_locked(*graph, steps))
        return CUDA_ERROR_INVALID_VALUE;
    const auto same_kind = [](const GraphStep& before, const GraphStep& after) {
        return !before.allocates && !after.allocates && !before.frees == !after.frees;
    };
    const auto& now = exec->steps->list;
    if (!std::equal(steps.begin(), steps.end(), now.begin(), now.end(), same_kind))
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    exec->steps = std::make_shared<const GraphSteps>(std::move(steps));
    return CUDA_SUCCESS;
}

} // namespace

GraphSteps::GraphSteps(std::vector<GraphStep> steps) : list(std::move(steps))
{
    for (const GraphStep& step : list)
        if (step.allocates || step.frees)
            hold_graph_memory(step.allocates + step.frees); // a step does one of the two
}

GraphSteps::~GraphSteps()
{
    for (const GraphStep& step : list)
        if (step.allocates || step.frees)
            let_go_of_graph_memory(step.allocates + step.frees);
}

namespace api {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags)
{
    return instantiate(phGraphExec, hGraph, flags, kFlags);
}

CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode*, char*, size_t)
{
    return instantiate(phGraphExec, hGraph, 0, kFlags);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode*, char*,
                               size_t)
{
    return instantiate(phGraphExec, hGraph, 0, kFlags);
}

#if CUDA_VERSION >= 12000
CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams)
{
    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result =
        instantiate(phGraphExec, hGraph, instantiateParams->flags, kFlagsWithParams);
    instantiateParams->hErrNode_out = nullptr;
    instantiateParams->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags)
{
    const GraphExec* exec = slots<GraphExec>().find(hGraphExec);
    if (!exec || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}
#endif

CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    return slots<GraphExec>().find(hGraph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    const bool captured = capturing(*stream);
    std::shared_ptr<const GraphSteps> steps;
    std::vector<CUdeviceptr> fresh;
    {
        const std::lock_guard lock(capture_mutex());
        const GraphExec* exec = slots<GraphExec>().find(hGraph);
        if (!exec)
            return CUDA_ERROR_INVALID_VALUE;
        if (captured && owns_memory(*exec->steps)) // a child graph must not own memory
            return CUDA_ERROR_NOT_SUPPORTED;
        if (const CUresult error = activate(*exec, fresh))
            return error;
        steps = exec->steps;
    }
    Submission submission;
    submission.type = CU_GRAPH_NODE_TYPE_GRAPH;
    for (const GraphStep& step : steps->list)
        submission.work.touches.insert(submission.work.touches.end(), step.work.touches.begin(),
                                       step.work.touches.end());
    submission.work.run = [steps] { return run_steps(*steps); };
    const CUresult result = submit(*stream, std::move(submission));
    if (result != CUDA_SUCCESS)
        free_all(fresh);
    return result;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    const std::lock_guard lock(capture_mutex());
    GraphExec* exec = slots<GraphExec>().find(hGraphExec);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    exec->steps = nullptr;
    exec->own.give();
    slots<GraphExec>().retire(exec);
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
#endif

} // namespace api
} // namespace simgpu
