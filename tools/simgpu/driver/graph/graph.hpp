// tools/simgpu/driver/graph/graph.hpp — graphs, their executable form and the memory they own.
//
// A node is work and what it depends on. The launch of an executable graph queues one piece of work
// that runs all steps in order. Graphs, captures and captured events are under capture_mutex(),
// graph memory is under memory_mutex().
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "tools/simgpu/driver/context/own_bytes.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {

struct Graph;

struct GraphAllocation {
    CUdeviceptr address;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters;
    std::vector<CUmemAccessDesc> access; // GetParams points to it (cuda.h)
};
struct GraphFree {
    CUdeviceptr address;
};
struct ChildGraph {
    Graph* graph;
};
struct BatchedOperations {
    CUcontext context;
    std::vector<CUstreamBatchMemOpParams> list; // the node's own copy (cuda.h)
};
using NodeDetail =
    std::variant<std::monostate, GraphAllocation, GraphFree, ChildGraph, CUDA_KERNEL_NODE_PARAMS,
                 CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, BatchedOperations>;

struct GraphNode {
    std::atomic<bool> alive{false};
    Graph* graph = nullptr;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    Work work;
    NodeDetail detail;
    std::vector<GraphNode*> dependencies;
    std::uint64_t id = 0;                             // never given out again
    std::uint64_t clone_of = 0;                       // the id of the node that it was copied from
    std::map<int, CUlaunchAttributeValue> attributes; // see attribute_api.cpp
};

struct Graph {
    std::atomic<bool> alive{false};
    std::uint64_t id = 0;  // never given out again
    bool captured = false; // a capture writes into it, so it cannot be destroyed
    bool is_child = false; // a node owns it
    std::vector<GraphNode*> nodes;
};

struct GraphStep {
    GraphNode* node; // found by cuGraphExec...SetParams; never followed
    Work work;
    CUdeviceptr allocates = 0;
    CUdeviceptr frees = 0;
    std::optional<Work> disabled{}; // what it does again when it is enabled
};

// What a launch runs. It holds the graph memory that it names, also for launches that are still
// queued when cuGraphExecDestroy is called.
struct GraphSteps {
    explicit GraphSteps(std::vector<GraphStep> steps);
    ~GraphSteps();
    GraphSteps(const GraphSteps&) = delete;
    GraphSteps& operator=(const GraphSteps&) = delete;

    const std::vector<GraphStep> list;
};

struct GraphExec {
    std::atomic<bool> alive{false};
    unsigned long long flags = 0;
    std::uint64_t graph_id = 0; // the graph that it was made of
    std::shared_ptr<const GraphSteps> steps;
    OwnBytes own;
};

std::mutex& capture_mutex();

Graph* open_graph();
void close_graph_locked(Graph& graph);
// Whether it or a child has allocation or free nodes: such a graph can be neither copied
// nor thinned out.
bool has_memory_nodes_locked(const Graph& graph);
GraphNode* add_node_locked(Graph& graph, std::vector<GraphNode*> dependencies, CUgraphNodeType type,
                           Work work, NodeDetail detail = {});
void remove_node_locked(GraphNode& node);

// Where a new node goes, as told to every cuGraphAdd...Node, and the handle to set.
struct NodePlace {
    CUgraphNode* handle;
    CUgraph graph;
    const CUgraphNode* dependencies;
    std::size_t count;
};
// Finds the graph and the nodes; CUDA_ERROR_INVALID_VALUE if one of them is not what it should be.
CUresult resolve_locked(const NodePlace& place, Graph*& graph, std::vector<GraphNode*>& after);
// `detail` is what the node's GetParams answers.
CUresult add_node(const NodePlace& place, CUgraphNodeType type, Work work, NodeDetail detail = {});
CUresult add_allocation_node(const NodePlace& place, CUDA_MEM_ALLOC_NODE_PARAMS& parameters);
CUresult add_free_node(const NodePlace& place, CUdeviceptr address);

// node_work.cpp: checks a node's parameters and makes work of them. Nodes keep one form of their
// parameters; the others are converted.
CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& parameters);
CUDA_KERNEL_NODE_PARAMS_v1 narrow(const CUDA_KERNEL_NODE_PARAMS& parameters);
#if CUDA_VERSION >= 12020
CUDA_KERNEL_NODE_PARAMS kept_form(const CUDA_KERNEL_NODE_PARAMS_v3& parameters);
CUDA_MEMSET_NODE_PARAMS kept_form(const CUDA_MEMSET_NODE_PARAMS_v2& parameters);
CUDA_HOST_NODE_PARAMS kept_form(const CUDA_HOST_NODE_PARAMS_v2& parameters);
CUDA_BATCH_MEM_OP_NODE_PARAMS kept_form(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& parameters);
#endif
// CUDA_ERROR_INVALID_VALUE if no node can have these parameters.
CUresult copy_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters, BatchedOperations& copy);
CUresult make_work(const CUDA_KERNEL_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const CUDA_MEMCPY3D& parameters, Work& work);
CUresult make_work(const CUDA_MEMSET_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const CUDA_HOST_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const BatchedOperations& operations, Work& work);

// graph_memory.cpp: an allocation node owns an address as soon as it is made, and bytes from its
// first launch on.
CUresult plan_graph_memory(Device& device, std::size_t bytes, const Graph& owner,
                           CUdeviceptr& address);
// Called when a graph gets a free node for the address. CUDA_ERROR_INVALID_VALUE if the
// memory is not a graph's, or if another free node excludes this one.
CUresult claim_graph_free(CUdeviceptr address, const Graph& graph);
// Nodes and executable graphs hold the addresses that they name.
void hold_graph_memory(CUdeviceptr address);
void let_go_of_graph_memory(CUdeviceptr address);
// Called when a launch is about to use it. `fresh` says that it was not allocated before.
// CUDA_ERROR_INVALID_VALUE if an earlier launch allocated it and did not free it.
CUresult activate_graph_memory(CUdeviceptr address, bool may_be_live, bool& fresh);
// Called when the launch runs: an earlier one that was queued with it may have freed the memory.
CUresult ensure_graph_memory(CUdeviceptr address);
void free_graph_memory(CUdeviceptr address);
// False if its own graph frees it, as nothing else may free it then.
bool callers_may_free_graph_memory_locked(CUdeviceptr address);
// Whether the range lies in memory that a graph will have when it runs.
bool is_planned_graph_range(CUdeviceptr start, std::size_t bytes);
// Called when a graph's memory is freed. The address stays the graph's.
void release_graph_memory_locked(const Allocation& allocation);

// An allocation or a free in stream order becomes a node while the stream is captured. Nothing is
// returned if the stream is not captured.
std::optional<CUresult> allocate_in_capture(Stream& stream, Device& device, std::size_t bytes,
                                            CUdeviceptr& address);
std::optional<CUresult> free_in_capture(Stream& stream, CUdeviceptr address);

} // namespace simgpu
