// interpose/actions/graphs.hpp — actions of graphs: the memory of their nodes, and what runs them.
#pragma once

#include "interpose/actions/frees.hpp"
#include "interpose/actions/objects.hpp"
#include "interpose/serve/contexts/graph_memory.hpp"
#include "interpose/serve/pools/shortage.hpp"

namespace vramscope::hooks {

struct AddsMemoryNode {
    const CUDA_MEM_ALLOC_NODE_PARAMS* params;
    void succeeded(Call& call)
    {
        node_allocates(params->dptr,
                       record_allocation(call, params->dptr, params->bytesize, place_now(call)));
    }
    void failed(Call& call, CUresult result)
    {
        record_shortage(call, result, params ? params->bytesize : 0);
    }
};

struct AddsNode {
    const CUgraphNodeParams* params;
    void succeeded(Call& call)
    {
        if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            node_allocates(params->alloc.dptr,
                           record_allocation(call, params->alloc.dptr, params->alloc.bytesize,
                                             place_now(call)));
    }
    void failed(Call& call, CUresult result)
    {
        if (params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            record_shortage(call, result, params->alloc.bytesize);
    }
};

struct MakesExecutable : TakesMemory {
    CUgraphExec* out;
    CUgraph graph;
    MakesExecutable(CUgraphExec* executable, CUgraph made_of) : out(executable), graph(made_of) {}
    void succeeded(Call& call)
    {
        if (pooling())
            executable_made();
        read_graph(call.thread, graph, *out);
        record_allocation(call, number(*out), 0, place_now(call));
        memory.after(call, number(*out));
    }
};

struct EndsExecutable {
    CUgraphExec executable;
    FreeRecord record{};
    void before(Call& call) { record.begin(call, number(executable)); }
    void succeeded(Call& call)
    {
        if (pooling())
            executable_gone();
        forget_graph(executable);
        record.succeeded(call);
    }
    void failed(Call& call, CUresult result) { record.failed(call, result); }
};

void record_launch(Call& call, CUgraphExec executable, CUstream stream);

// Programs launch by the thousand, mostly graphs that leave nothing behind.
struct LaunchesGraph {
    static constexpr bool kTimed = false;
    CUgraphExec executable;
    CUstream stream;
    static bool needs_nothing(const log::Thread&)
    {
        return launch_effects.load(std::memory_order_relaxed) == 0;
    }
    void succeeded(Call& call) { record_launch(call, executable, stream); }
};

// An executable graph gets other addresses than it was made with.
struct ChangesExecutable {
    static constexpr bool kTimed = false;
    void succeeded(Call&)
    {
        if (pooling())
            graph_may_hold_memory();
    }
};

} // namespace vramscope::hooks
