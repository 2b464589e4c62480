// tests/simgpu/graph/graph_test.cpp — graphs built by hand.
#include "tests/simgpu/graph/graph.hpp"

#include <string>

#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

TEST(Graph, RunsNodesAfterWhatTheyDependOn)
{
    with_context([] {
        static std::string order;
        order.clear();
        const CUgraph graph = new_graph();
        CUgraphNode first = nullptr;
        CUgraphNode second = nullptr;
        CUDA_HOST_NODE_PARAMS append_b{};
        append_b.fn = [](void*) { order += 'b'; };
        CUDA_HOST_NODE_PARAMS append_a{};
        append_a.fn = [](void*) { order += 'a'; };
        ASSERT_CU(cuGraphAddHostNode(&second, graph, nullptr, 0, &append_b));
        ASSERT_CU(cuGraphAddHostNode(&first, graph, nullptr, 0, &append_a));
#if CUDA_VERSION >= 13000
        ASSERT_CU(cuGraphAddDependencies(graph, &first, &second, nullptr, 1));
#else
        ASSERT_CU(cuGraphAddDependencies(graph, &first, &second, 1));
#endif
        const CUgraphExec exec = instantiate(graph);
        ASSERT_CU(cuGraphDestroy(graph)); // the executable graph does not need it
        ASSERT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(order, "abab");
    });
}

TEST(Graph, WithACycleIsNotInstantiated)
{
    with_context([] {
        const CUgraph graph = new_graph();
        CUgraphNode nodes[2] = {};
        ASSERT_CU(cuGraphAddEmptyNode(&nodes[0], graph, nullptr, 0));
        ASSERT_CU(cuGraphAddEmptyNode(&nodes[1], graph, &nodes[0], 1));
#if CUDA_VERSION >= 13000
        ASSERT_CU(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], nullptr, 1));
#else
        ASSERT_CU(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
#endif
        CUgraphExec exec = nullptr;
        EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(exec, nullptr);
    });
}
