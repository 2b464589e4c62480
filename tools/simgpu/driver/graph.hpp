// tools/simgpu/driver/graph.hpp — graphs, their executable form, and the memory that allocation
// nodes own.
//
// A node is work plus what it depends on. Launching an executable graph queues one piece of work
// that runs all steps in order. Graphs, captures and captured events are under capture_mutex();
// graph memory is under memory_mutex().
#pragma once

#include "tools/simgpu/driver/allocation.hpp"
#include "tools/simgpu/driver/capture.hpp"

#include <memory>
#include <optional>
#include <variant>

namespace simgpu {

struct Graph;

struct GraphAllocation {
    CUdeviceptr address;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters;
};
struct GraphFree {
    CUdeviceptr address;
};
struct ChildGraph {
    Graph* graph;
};
using NodeDetail =
    std::variant<std::monostate, GraphAllocation, GraphFree, ChildGraph, CUDA_KERNEL_NODE_PARAMS,
                 CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUDA_HOST_NODE_PARAMS>;

struct GraphNode {
    std::atomic<bool> alive{false};
    Graph* graph = nullptr;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    Work work;
    NodeDetail detail;
    std::vector<GraphNode*> dependencies;
};

struct Graph {
    std::atomic<bool> alive{false};
    std::vector<GraphNode*> nodes;
};

struct GraphStep {
    GraphNode* node; // to find it again for cuGraphExec...SetParams; not followed
    Work work;
    CUdeviceptr allocates = 0;
    CUdeviceptr frees = 0;
};

struct GraphExec {
    std::atomic<bool> alive{false};
    unsigned long long flags = 0;
    std::shared_ptr<std::vector<GraphStep>> steps;
};

Slots<Graph>& graphs();
Slots<GraphNode>& graph_nodes();
std::mutex& capture_mutex();

Graph* open_graph();
void close_graph_locked(Graph& graph);
GraphNode* add_node_locked(Graph& graph, std::vector<GraphNode*> dependencies, CUgraphNodeType type,
                           Work work, NodeDetail detail = {});
void remove_node_locked(GraphNode& node);

// node_work.cpp: a node's parameters as work, checked; the old form of the kernel parameters as the
// new one.
CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& parameters);
CUresult make_work(const CUDA_KERNEL_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const CUDA_MEMCPY3D& parameters, Work& work);
CUresult make_work(const CUDA_MEMSET_NODE_PARAMS& parameters, Work& work);
CUresult make_work(const CUDA_HOST_NODE_PARAMS& parameters, Work& work);

// graph_memory.cpp: an allocation node owns an address from its making, and bytes from its first
// launch.
CUresult plan_graph_memory(Device& device, std::size_t bytes, CUdeviceptr& address);
// Nodes and executable graphs that name an address keep it.
void hold_graph_memory(CUdeviceptr address);
void let_go_of_graph_memory(CUdeviceptr address);
// A launch is about to use it. CUDA_ERROR_INVALID_VALUE: still allocated by an earlier launch and
// not freed within it.
CUresult activate_graph_memory(CUdeviceptr address, bool may_be_live);
void free_graph_memory(CUdeviceptr address);
bool is_graph_memory(CUdeviceptr address);
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
