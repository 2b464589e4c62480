// tests/simgpu/graph_test.cpp — graphs built by hand, and the memory their nodes own.
#include "tests/simgpu/driver.hpp"

#include <string>

using namespace simgpu::test;

namespace {

CUgraph new_graph()
{
    CUgraph graph = nullptr;
    EXPECT_CU(cuGraphCreate(&graph, 0));
    return graph;
}

CUDA_MEM_ALLOC_NODE_PARAMS allocation_of(size_t bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    parameters.bytesize = bytes;
    return parameters;
}

CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0)
{
    CUgraphExec exec = nullptr;
    EXPECT_CU(cuGraphInstantiateWithFlags(&exec, graph, flags));
    return exec;
}

} // namespace

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

TEST(Graph, MemoryHasOneAddressAndBytesFromTheFirstLaunch)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUgraph graph = new_graph();
        CUgraphNode node = nullptr;
        auto wanted = allocation_of(4 * kMiB);
        ASSERT_CU(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
        EXPECT_NE(wanted.dptr, 0u);
        CUgraphNode freed = nullptr;
        ASSERT_CU(cuGraphAddMemFreeNode(&freed, graph, &node, 1, wanted.dptr));
        const CUgraphExec exec = instantiate(graph);
        EXPECT_EQ(free_bytes(), all);
        for (int launch = 0; launch < 3; ++launch)
            ASSERT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(free_bytes(), all - 4 * kMiB);
        EXPECT_EQ(cuMemFree(wanted.dptr), CUDA_ERROR_INVALID_VALUE); // the graph freed it
        cuuint64_t used = 77;
        ASSERT_CU(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
        EXPECT_EQ(used, 0u);
        ASSERT_CU(cuDeviceGraphMemTrim(0));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Graph, MemoryThatItLeavesAllocatedIsTheCallersToFree)
{
    with_context([] {
        const CUgraph graph = new_graph();
        CUgraphNode node = nullptr;
        auto wanted = allocation_of(4 * kMiB);
        ASSERT_CU(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
        const CUgraphExec exec = instantiate(graph);
        ASSERT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_CU(cuMemcpyHtoD(wanted.dptr, "x", 1));
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE); // still allocated
        ASSERT_CU(cuMemFree(wanted.dptr));
        EXPECT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuMemFreeAsync(wanted.dptr, nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(cuMemFree(wanted.dptr), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Graph, AutoFreeAllowsRelaunch)
{
    with_context([] {
        const CUgraph graph = new_graph();
        CUgraphNode node = nullptr;
        auto wanted = allocation_of(4 * kMiB);
        ASSERT_CU(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
        const CUgraphExec exec =
            instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        EXPECT_CU(cuGraphLaunch(exec, nullptr));
        EXPECT_CU(cuGraphLaunch(exec, nullptr));
    });
}

TEST(Graph, MemoryReturnsWhenNothingNamesItAnyMore)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUgraph graph = new_graph();
        CUgraphNode node = nullptr;
        auto wanted = allocation_of(4 * kMiB);
        ASSERT_CU(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
        const CUgraphExec exec = instantiate(graph);
        ASSERT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuGraphDestroy(graph));
        ASSERT_CU(cuGraphExecDestroy(exec));
        EXPECT_EQ(free_bytes(), all - 4 * kMiB);
        ASSERT_CU(cuMemFree(wanted.dptr));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Graph, LaunchFailsWhenTheDeviceIsFull)
{
    with_context([] {
        const CUgraph graph = new_graph();
        CUgraphNode node = nullptr;
        auto wanted = allocation_of(200 * kMiB);
        ASSERT_CU(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
        const CUgraphExec exec = instantiate(graph);
        allocate(100 * kMiB);
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
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
