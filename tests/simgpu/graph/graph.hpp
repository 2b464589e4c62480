// tests/simgpu/graph/graph.hpp — an empty graph, and one that can be launched.
#pragma once

#include "tests/simgpu/driver.hpp"

namespace simgpu::test {

inline CUgraph new_graph()
{
    CUgraph graph = nullptr;
    EXPECT_CU(cuGraphCreate(&graph, 0));
    return graph;
}

inline CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0)
{
    CUgraphExec exec = nullptr;
    EXPECT_CU(cuGraphInstantiateWithFlags(&exec, graph, flags));
    return exec;
}

} // namespace simgpu::test
