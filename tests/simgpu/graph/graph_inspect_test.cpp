// tests/simgpu/graph/graph_inspect_test.cpp — what a graph tells of itself, and disabled nodes.
#include <utility>
#include <vector>

#include "tests/simgpu/driver.hpp"
#include "tests/simgpu/graph/graph.hpp"

using namespace simgpu::test;

namespace {

CUgraph create_graph()
{
    CUgraph graph = nullptr;
    EXPECT_CU(cuGraphCreate(&graph, 0));
    return graph;
}

CUgraphNode add_empty(CUgraph graph, const std::vector<CUgraphNode>& after = {})
{
    CUgraphNode node = nullptr;
    EXPECT_CU(cuGraphAddEmptyNode(&node, graph, after.data(), after.size()));
    return node;
}

CUgraphNode add_fill_node(CUgraph graph, CUdeviceptr address, unsigned value)
{
    CUcontext context = nullptr;
    EXPECT_CU(cuCtxGetCurrent(&context));
    const CUDA_MEMSET_NODE_PARAMS fill{address, 0, value, 1, 8, 1};
    CUgraphNode node = nullptr;
    EXPECT_CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
    return node;
}

CUgraphNode add_kernel(CUgraph graph)
{
    CUmodule module = nullptr;
    CUDA_KERNEL_NODE_PARAMS kernel{};
    EXPECT_CU(cuModuleLoadData(&module, "any image"));
    EXPECT_CU(cuModuleGetFunction(&kernel.func, module, "kernel"));
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    CUgraphNode node = nullptr;
    EXPECT_CU(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
    return node;
}

// With and without data of its edges, which this driver does not keep.
CUresult get_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count)
{
#if CUDA_VERSION >= 13000
    return cuGraphGetEdges(graph, from, to, nullptr, count);
#else
    return cuGraphGetEdges(graph, from, to, count);
#endif
}

void launch(CUgraphExec exec)
{
    ASSERT_CU(cuGraphLaunch(exec, nullptr));
    ASSERT_CU(cuCtxSynchronize());
}

} // namespace

TEST(GraphEdges, AreListedOnceEach)
{
    with_context([] {
        const CUgraph graph = create_graph();
        const CUgraphNode first = add_empty(graph);
        const CUgraphNode second = add_empty(graph, {first});
        const CUgraphNode third = add_empty(graph, {first, second});
        size_t count = 0;
        ASSERT_CU(get_edges(graph, nullptr, nullptr, &count));
        ASSERT_EQ(count, 3u);
        CUgraphNode from[4] = {};
        CUgraphNode to[4] = {};
        count = 4;
        ASSERT_CU(get_edges(graph, from, to, &count));
        EXPECT_EQ(count, 3u);
        EXPECT_EQ(std::make_pair(from[0], to[0]), std::make_pair(first, second));
        EXPECT_EQ(std::make_pair(from[1], to[1]), std::make_pair(first, third));
        EXPECT_EQ(std::make_pair(from[2], to[2]), std::make_pair(second, third));
        EXPECT_EQ(from[3], nullptr);
        EXPECT_EQ(to[3], nullptr);
        EXPECT_EQ(get_edges(graph, from, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(get_edges(graph, from, to, nullptr), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(GraphClone, KnowsWhichNodeIsWhich)
{
    with_context([] {
        const CUgraph graph = create_graph();
        const CUgraphNode first = add_empty(graph);
        const CUgraphNode second = add_empty(graph, {first});
        CUgraph clone = nullptr;
        ASSERT_CU(cuGraphClone(&clone, graph));
        CUgraphNode in_clone = nullptr;
        CUgraphNode before = nullptr;
        ASSERT_CU(cuGraphNodeFindInClone(&in_clone, second, clone));
        ASSERT_CU(cuGraphNodeFindInClone(&before, first, clone));
        EXPECT_NE(in_clone, second);
        CUgraphNode from = nullptr;
        CUgraphNode to = nullptr;
        size_t count = 1;
        ASSERT_CU(get_edges(clone, &from, &to, &count));
        EXPECT_EQ(from, before);
        EXPECT_EQ(to, in_clone);
        // A graph is no clone of itself, and a node that was added later has no copy.
        EXPECT_EQ(cuGraphNodeFindInClone(&from, first, graph), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGraphNodeFindInClone(&from, add_empty(graph), clone), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(from, before);
    });
}

TEST(GraphNode, DoesNothingWhileItIsDisabled)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUgraph graph = create_graph();
        const CUgraphNode fill = add_fill_node(graph, address, 5);
        const CUgraphExec exec = instantiate(graph);
        unsigned enabled = 7;
        ASSERT_CU(cuGraphNodeGetEnabled(exec, fill, &enabled));
        EXPECT_EQ(enabled, 1u);
        ASSERT_CU(cuGraphNodeSetEnabled(exec, fill, 0));
        ASSERT_CU(cuGraphNodeSetEnabled(exec, fill, 0));
        ASSERT_CU(cuGraphNodeGetEnabled(exec, fill, &enabled));
        EXPECT_EQ(enabled, 0u);
        launch(exec);
        EXPECT_EQ(peek(address), 0);
        // Parameters that it gets while it is disabled count once it is enabled again.
        CUcontext context = nullptr;
        ASSERT_CU(cuCtxGetCurrent(&context));
        const CUDA_MEMSET_NODE_PARAMS other{address, 0, 6, 1, 8, 1};
        ASSERT_CU(cuGraphExecMemsetNodeSetParams(exec, fill, &other, context));
        launch(exec);
        EXPECT_EQ(peek(address), 0);
        ASSERT_CU(cuGraphNodeSetEnabled(exec, fill, 1));
        launch(exec);
        EXPECT_EQ(peek(address), 6);
    });
}

TEST(GraphNode, OfAnotherKindCannotBeDisabled)
{
    with_context([] {
        const CUgraph graph = create_graph();
        const CUgraphNode empty = add_empty(graph);
        const CUgraphExec exec = instantiate(graph);
        const CUgraphNode later = add_fill_node(graph, allocate(64), 5);
        unsigned enabled = 7;
        EXPECT_EQ(cuGraphNodeSetEnabled(exec, empty, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGraphNodeGetEnabled(exec, empty, &enabled), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGraphNodeSetEnabled(exec, later, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(enabled, 7u);
    });
}

TEST(KernelNode, KeepsItsAttributes)
{
    with_context([] {
        const CUgraph graph = create_graph();
        const CUgraphNode node = add_kernel(graph);
        const CUgraphNode other = add_kernel(graph);
        CUkernelNodeAttrValue value{};
        value.priority = 4;
        ASSERT_CU(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        ASSERT_CU(cuGraphKernelNodeCopyAttributes(other, node));
        CUgraph clone = nullptr;
        CUgraphNode copy = nullptr;
        ASSERT_CU(cuGraphClone(&clone, graph));
        ASSERT_CU(cuGraphNodeFindInClone(&copy, other, clone));
        value.priority = 0;
        ASSERT_CU(cuGraphKernelNodeGetAttribute(copy, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        EXPECT_EQ(value.priority, 4);
        EXPECT_EQ(
            cuGraphKernelNodeSetAttribute(add_empty(graph), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
            CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr),
                  CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(StreamAttributes, AreTheStreamsOwn)
{
    with_context([] {
        CUstream stream = nullptr;
        ASSERT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CUstreamAttrValue value{};
        value.syncPolicy = CU_SYNC_POLICY_YIELD;
        const auto policy = CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
        ASSERT_CU(cuStreamSetAttribute(stream, policy, &value));
        CUstreamAttrValue told{};
        ASSERT_CU(cuStreamGetAttribute(stream, policy, &told));
        EXPECT_EQ(told.syncPolicy, CU_SYNC_POLICY_YIELD);
        ASSERT_CU(cuStreamGetAttribute(nullptr, policy, &told));
        EXPECT_EQ(told.syncPolicy, 0);
        ASSERT_CU(cuStreamCopyAttributes(nullptr, stream));
        ASSERT_CU(cuStreamGetAttribute(nullptr, policy, &told));
        EXPECT_EQ(told.syncPolicy, CU_SYNC_POLICY_YIELD);
        // A new stream may have the handle of an old one, but not its attributes.
        ASSERT_CU(cuStreamDestroy(stream));
        CUstream next = nullptr;
        ASSERT_CU(cuStreamCreate(&next, CU_STREAM_NON_BLOCKING));
        ASSERT_EQ(next, stream);
        ASSERT_CU(cuStreamGetAttribute(next, policy, &told));
        EXPECT_EQ(told.syncPolicy, 0);
    });
}
