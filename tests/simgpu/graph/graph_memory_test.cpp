// tests/simgpu/graph/graph_memory_test.cpp — memory that allocation nodes own.
#include "tests/simgpu/driver.hpp"
#include "tests/simgpu/graph/graph.hpp"

using namespace simgpu::test;

namespace {

CUDA_MEM_ALLOC_NODE_PARAMS allocation_of(size_t bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    parameters.bytesize = bytes;
    return parameters;
}

struct Allocation {
    CUgraphNode node;
    CUdeviceptr address;
};

Allocation add_allocation(CUgraph graph, size_t bytes)
{
    Allocation made{};
    auto wanted = allocation_of(bytes);
    EXPECT_CU(cuGraphAddMemAllocNode(&made.node, graph, nullptr, 0, &wanted));
    made.address = wanted.dptr;
    return made;
}

CUresult add_free(CUgraph graph, CUdeviceptr address)
{
    CUgraphNode node = nullptr;
    return cuGraphAddMemFreeNode(&node, graph, nullptr, 0, address);
}

cuuint64_t graph_bytes(CUgraphMem_attribute attribute)
{
    cuuint64_t value = 77;
    EXPECT_CU(cuDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

} // namespace

TEST(GraphMemory, HasOneAddressAndBytesFromTheFirstLaunch)
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

TEST(GraphMemory, ThatTheGraphLeavesAllocatedIsTheCallersToFree)
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
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE); // it is still allocated
        ASSERT_CU(cuMemFree(wanted.dptr));
        EXPECT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuMemFreeAsync(wanted.dptr, nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(cuMemFree(wanted.dptr), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(GraphMemory, AutoFreeAllowsRelaunch)
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

TEST(GraphMemory, ReturnsWhenNothingNamesItAnyMore)
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

TEST(GraphMemory, LaunchFailsWhenTheDeviceIsFull)
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

TEST(GraphMemory, NodesTellTheirParameters)
{
    with_context([] {
        const CUgraph graph = new_graph();
        auto wanted = allocation_of(5 * kMiB);
        CUmemAccessDesc access{};
        access.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        wanted.accessDescs = &access;
        wanted.accessDescCount = 1;
        CUgraphNode node = nullptr;
        ASSERT_CU(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
        CUDA_MEM_ALLOC_NODE_PARAMS told{};
        ASSERT_CU(cuGraphMemAllocNodeGetParams(node, &told));
        EXPECT_EQ(told.dptr, wanted.dptr);
        EXPECT_EQ(told.bytesize, 5 * kMiB);
        ASSERT_EQ(told.accessDescCount, 1u);
        EXPECT_NE(told.accessDescs, &access); // the node's own copy
        EXPECT_EQ(told.accessDescs->flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        CUgraphNode freed = nullptr;
        CUdeviceptr address = 0;
        ASSERT_CU(cuGraphAddMemFreeNode(&freed, graph, &node, 1, wanted.dptr));
        ASSERT_CU(cuGraphMemFreeNodeGetParams(freed, &address));
        EXPECT_EQ(address, wanted.dptr);
        EXPECT_EQ(cuGraphMemFreeNodeGetParams(node, &address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGraphMemAllocNodeGetParams(freed, &told), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGraphMemAllocNodeGetParams(node, nullptr), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(GraphMemory, IsFreedByOneGraphOnly)
{
    with_context([] {
        const CUgraph owner = new_graph();
        const CUgraph other = new_graph();
        const auto inside = add_allocation(owner, kMiB);
        EXPECT_CU(add_free(owner, inside.address));
        EXPECT_EQ(add_free(owner, inside.address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(add_free(other, inside.address), CUDA_ERROR_INVALID_VALUE);
        const auto outside = add_allocation(owner, kMiB);
        EXPECT_CU(add_free(other, outside.address));
        EXPECT_EQ(add_free(owner, outside.address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(add_free(other, allocate(kMiB)), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(GraphMemory, IsFreedByAnotherGraph)
{
    with_context([] {
        const CUgraph owner = new_graph();
        const CUgraph other = new_graph();
        const auto memory = add_allocation(owner, 4 * kMiB);
        ASSERT_CU(add_free(other, memory.address));
        const CUgraphExec allocating = instantiate(owner);
        const CUgraphExec freeing = instantiate(other);
        ASSERT_CU(cuGraphLaunch(allocating, nullptr));
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 4 * kMiB);
        ASSERT_CU(cuGraphLaunch(freeing, nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0u);
        EXPECT_CU(cuGraphLaunch(allocating, nullptr));
    });
}

TEST(GraphMemory, ThatItsGraphFreesIsNotTheCallersToFree)
{
    with_context([] {
        const CUgraph graph = new_graph();
        const auto memory = add_allocation(graph, kMiB);
        ASSERT_CU(add_free(graph, memory.address));
        const CUgraphExec exec = instantiate(graph);
        ASSERT_CU(cuGraphLaunch(exec, nullptr)); // it is queued, and allocated now
        EXPECT_EQ(cuMemFreeAsync(memory.address, nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemFree(memory.address), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(GraphMemory, AFreeInStreamOrderCountsAtOnce)
{
    with_context([] {
        const CUgraph graph = new_graph();
        const auto memory = add_allocation(graph, kMiB);
        const CUgraphExec exec = instantiate(graph);
        for (int launch = 0; launch < 3; ++launch) {
            ASSERT_CU(cuGraphLaunch(exec, nullptr));
            ASSERT_CU(cuMemFreeAsync(memory.address, nullptr));
            EXPECT_EQ(cuMemFreeAsync(memory.address, nullptr), CUDA_ERROR_INVALID_VALUE);
        }
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0u);
        ASSERT_CU(cuGraphLaunch(exec, nullptr)); // it comes after all those frees
        EXPECT_CU(cuMemcpyHtoD(memory.address, "x", 1));
    });
}

TEST(GraphMemory, OutlivesItsGraphWhileALaunchIsQueued)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUgraph graph = new_graph();
        const auto memory = add_allocation(graph, 4 * kMiB);
        ASSERT_CU(add_free(graph, memory.address));
        const CUgraphExec exec = instantiate(graph);
        ASSERT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuGraphLaunch(exec, nullptr));
        ASSERT_CU(cuGraphExecDestroy(exec));
        ASSERT_CU(cuGraphDestroy(graph));
        EXPECT_EQ(free_bytes(), all - 4 * kMiB);
        EXPECT_CU(cuCtxSynchronize());
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(GraphMemory, ForbidsWhatWouldDuplicateOrLoseIt)
{
    with_context([] {
        const CUgraph graph = new_graph();
        const auto memory = add_allocation(graph, kMiB);
        CUgraphNode empty = nullptr;
        ASSERT_CU(cuGraphAddEmptyNode(&empty, graph, &memory.node, 1));
        CUgraph copy = nullptr;
        EXPECT_EQ(cuGraphClone(&copy, graph), CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(copy, nullptr);
        EXPECT_EQ(cuGraphDestroyNode(empty), CUDA_ERROR_NOT_SUPPORTED);
#if CUDA_VERSION >= 13000
        EXPECT_EQ(cuGraphRemoveDependencies(graph, &memory.node, &empty, nullptr, 1),
                  CUDA_ERROR_NOT_SUPPORTED);
#endif
        CUgraphNode child = nullptr;
        EXPECT_EQ(cuGraphAddChildGraphNode(&child, new_graph(), nullptr, 0, graph),
                  CUDA_ERROR_NOT_SUPPORTED);
        const CUgraphExec exec = instantiate(graph);
        CUgraphExec second = nullptr;
        EXPECT_EQ(cuGraphInstantiateWithFlags(&second, graph, 0), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuGraphExecDestroy(exec));
        EXPECT_CU(cuGraphInstantiateWithFlags(&second, graph, 0));
    });
}

TEST(GraphMemory, TrimReturnsWhatIsNotAllocated)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUgraph graph = new_graph();
        const auto kept = add_allocation(graph, 2 * kMiB);
        const auto freed = add_allocation(graph, 4 * kMiB);
        ASSERT_CU(cuGraphLaunch(instantiate(graph), nullptr));
        ASSERT_CU(cuMemFree(freed.address));
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 6 * kMiB);
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 2 * kMiB);
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 6 * kMiB);
        ASSERT_CU(cuDeviceGraphMemTrim(0));
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        cuuint64_t zero = 0;
        ASSERT_CU(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 2 * kMiB);
        EXPECT_EQ(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuDeviceGraphMemTrim(7), CUDA_ERROR_INVALID_DEVICE);
        EXPECT_CU(cuMemFree(kept.address));
    });
}

#if CUDA_VERSION >= 13000
TEST(GraphMemory, ComesWithTheGeneralFormToo)
{
    with_context([] {
        const CUgraph graph = new_graph();
        CUgraphNodeParams allocation{};
        allocation.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
        allocation.alloc.poolProps = allocation_of(0).poolProps;
        allocation.alloc.bytesize = kMiB;
        CUgraphNode allocated = nullptr;
        ASSERT_CU(cuGraphAddNode(&allocated, graph, nullptr, nullptr, 0, &allocation));
        CUgraphNodeParams free{};
        free.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
        free.free.dptr = allocation.alloc.dptr;
        CUgraphNode freed = nullptr;
        ASSERT_CU(cuGraphAddNode(&freed, graph, &allocated, nullptr, 1, &free));
        // A graph that owns memory can become a child only by a move.
        const CUgraph parent = new_graph();
        CUgraphNodeParams child{};
        child.type = CU_GRAPH_NODE_TYPE_GRAPH;
        child.graph.graph = graph;
        child.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
        CUgraphNode node = nullptr;
        EXPECT_EQ(cuGraphAddNode(&node, parent, nullptr, nullptr, 0, &child),
                  CUDA_ERROR_NOT_SUPPORTED);
        child.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        ASSERT_CU(cuGraphAddNode(&node, parent, nullptr, nullptr, 0, &child));
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE); // it belongs to the node now
        ASSERT_CU(cuGraphLaunch(instantiate(parent), nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(graph_bytes(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 2 * kMiB);
    });
}
#endif
