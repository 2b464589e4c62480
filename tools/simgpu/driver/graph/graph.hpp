// tools/simgpu/driver/graph/graph.hpp — graphs, their executable form, and the memory that
// allocation nodes own.
//
// A node is work plus what it depends on. Launching an executable graph queues one piece of work
// that runs all steps in order. Graphs, captures and captured events are under capture_mutex();
// graph memory is under memory_mutex().
#pragma once

#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

#include <memory>
#include <optional>
#include <variant>

namespace simgpu {

struct Graph;

struct GraphAllocation {
    CUdeviceptr address;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters;
    std::vector<CUmemAccessDesc> access; // cuda.h: the node owns what GetParams points to
};
struct GraphFree {
    CUdeviceptr address;
};
struct ChildGraph {
    Graph* graph;
};
struct BatchedOperations {
    CUcontext context;
    std::vector<CUstreamBatchMemOpParams> list; // cuda.h: the node has a copy
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
    std::map<int, CUlaunchAttributeValue> attributes; // of attribute_api.cpp
};

struct Graph {
    std::atomic<bool> alive{false};
    std::uint64_t id = 0;  // never given out again
    bool captured = false; // a stream capture writes into it: it cannot be destroyed
    bool is_child = false; // a node owns it
    std::vector<GraphNode*> nodes;
};

struct GraphStep {
    GraphNode* node; // to find it again for cuGraphExec...SetParams; not followed
    Work work;
    CUdeviceptr allocates = 0;
    CUdeviceptr frees = 0;
    std::optional<Work>
        disabled{}; // what it does once it is enabled again; until then it has no work
};

// What a launch runs. Keeps the graph memory that it names, also for launches still queued when
// cuGraphExecDestroy has been called.
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
    std::uint64_t graph_id = 0; // what it was made of
    std::shared_ptr<const GraphSteps> steps;
};

Slots<Graph>& graphs();
Slots<GraphNode>& graph_nodes();
Slots<GraphExec>& graph_execs();
std::mutex& capture_mutex();

Graph* open_graph();
void close_graph_locked(Graph& graph);
// Its own or a child's allocation or free nodes: such a graph cannot be copied or thinned out.
bool has_memory_nodes_locked(const Graph& graph);
GraphNode* add_node_locked(Graph& graph, std::vector<GraphNode*> dependencies, CUgraphNodeType type,
                           Work work, NodeDetail detail = {});
void remove_node_locked(GraphNode& node);

// Where a node goes, as every cuGraphAdd...Node is told: graph, dependencies, and the handle to
// set.
struct NodePlace {
    CUgraphNode* handle;
    CUgraph graph;
    const CUgraphNode* dependencies;
    std::size_t count;
};
// The graph and nodes that it names; CUDA_ERROR_INVALID_VALUE if one is not what it should be.
CUresult resolve_locked(const NodePlace& place, Graph*& graph, std::vector<GraphNode*>& after);
// The detail is what the node's GetParams tells.
CUresult add_node(const NodePlace& place, CUgraphNodeType type, Work work, NodeDetail detail = {});
CUresult add_allocation_node(const NodePlace& place, CUDA_MEM_ALLOC_NODE_PARAMS& parameters);
CUresult add_free_node(const NodePlace& place, CUdeviceptr address);

// node_work.cpp: a node's parameters as work, checked; forms of other functions as the one that is
// kept.
CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& parameters);
CUDA_KERNEL_NODE_PARAMS_v1 narrow(const CUDA_KERNEL_NODE_PARAMS& parameters);
#if CUDA_VERSION >= 12020
CUDA_KERNEL_NODE_PARAMS kept_form(const CUDA_KERNEL_NODE_PARAMS_v3& parameters);
CUDA_MEMSET_NODE_PARAMS kept_form(const CUDA_MEMSET_NODE_PARAMS_v2& parameters);
CUDA_HOST_NODE_PARAMS kept_form(const CUDA_HOST_NODE_PARAMS_v2& parameters);
CUDA_BATCH_MEM_OP_NODE_PARAMS kept_form(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& parameters);
#endif
// CUDA_ERROR_INVALID_VALUE if these cannot be any node's.
CUresult copy_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters, BatchedOperations& copy);
CUresult make_work(const CUDA_KERNEL_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const CUDA_MEMCPY3D& parameters, Work& work);
CUresult make_work(const CUDA_MEMSET_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const CUDA_HOST_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const BatchedOperations& operations, Work& work);

// graph_memory.cpp: an allocation node owns an address from its making, and bytes from its first
// launch.
CUresult plan_graph_memory(Device& device, std::size_t bytes, const Graph& owner,
                           CUdeviceptr& address);
// A free node for it is added to a graph. CUDA_ERROR_INVALID_VALUE: not a graph's memory, or freed
// by another node that excludes this one.
CUresult claim_graph_free(CUdeviceptr address, const Graph& graph);
// Nodes and executable graphs that name an address keep it.
void hold_graph_memory(CUdeviceptr address);
void let_go_of_graph_memory(CUdeviceptr address);
// A launch is about to use it; `fresh`: it was not allocated before. CUDA_ERROR_INVALID_VALUE:
// still allocated by an earlier launch and not freed within it.
CUresult activate_graph_memory(CUdeviceptr address, bool may_be_live, bool& fresh);
// The launch runs: an earlier one that was queued with it may have freed it.
CUresult ensure_graph_memory(CUdeviceptr address);
void free_graph_memory(CUdeviceptr address);
// False while its own graph frees it: then nobody else may.
bool callers_may_free_graph_memory_locked(CUdeviceptr address);
// Inside memory that a graph will have when it runs.
bool is_planned_graph_range(CUdeviceptr start, std::size_t bytes);
// A graph's memory was freed by someone: the address stays the graph's.
void release_graph_memory_locked(const Allocation& allocation);

// Stream-ordered allocation while the stream is captured: becomes a node. Nothing if it is not
// captured.
std::optional<CUresult> allocate_in_capture(Stream& stream, Device& device, std::size_t bytes,
                                            CUdeviceptr& address);
std::optional<CUresult> free_in_capture(Stream& stream, CUdeviceptr address);

} // namespace simgpu
