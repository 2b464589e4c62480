// interpose/actions/graphs.hpp — actions of graphs: the memory of their nodes, and what runs them.
#pragma once

#include "interpose/actions/frees.hpp"
#include "interpose/serve/pools/shortage.hpp"

namespace vramscope::hooks {

// The address belongs to the graph: each launch allocates it again, without a call.
struct AddsMemoryNode {
    const CUDA_MEM_ALLOC_NODE_PARAMS* params;
    void succeeded(Call& call)
    {
        record_allocation(call, params->dptr, params->bytesize, place_now(call));
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
            record_allocation(call, params->alloc.dptr, params->alloc.bytesize, place_now(call));
    }
    void failed(Call& call, CUresult result)
    {
        if (params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            record_shortage(call, result, params->alloc.bytesize);
    }
};

struct MakesExecutable {
    CUgraphExec* out;
    void succeeded(Call& call)
    {
        if (pooling())
            executable_made();
        record_allocation(call, number(*out), 0, place_now(call));
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

struct EndsExecutable {
    CUgraphExec executable;
    FreeRecord record{};
    void before(Call& call) { record.begin(call, number(executable)); }
    void succeeded(Call& call)
    {
        if (pooling())
            executable_gone();
        record.succeeded(call);
    }
    void failed(Call& call, CUresult result) { record.failed(call, result); }
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
