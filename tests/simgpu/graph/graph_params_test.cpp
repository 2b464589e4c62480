// tests/simgpu/graph/graph_params_test.cpp — other parameters for nodes of an executable graph.
#include <cstring>

#include "tests/simgpu/driver.hpp"
#include "tests/simgpu/graph/graph.hpp"

using namespace simgpu::test;

namespace {

constexpr size_t kBytes = 4096;

struct Made {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
};

void instantiate(Made& made)
{
    EXPECT_CU(cuGraphInstantiateWithFlags(&made.exec, made.graph, 0));
}

void run(const Made& made)
{
    EXPECT_CU(cuGraphLaunch(made.exec, nullptr));
    EXPECT_CU(cuCtxSynchronize());
}

CUcontext current()
{
    CUcontext context = nullptr;
    EXPECT_CU(cuCtxGetCurrent(&context));
    return context;
}

CUDA_MEMSET_NODE_PARAMS fill_with(CUdeviceptr to, unsigned value)
{
    return {to, 0, value, 1, kBytes, 1};
}

CUgraphNode add_fill(CUgraph graph, CUdeviceptr to, unsigned value, const CUgraphNode* after)
{
    CUgraphNode node = nullptr;
    const CUDA_MEMSET_NODE_PARAMS parameters = fill_with(to, value);
    EXPECT_CU(cuGraphAddMemsetNode(&node, graph, after, after ? 1 : 0, &parameters, current()));
    return node;
}

// A chain of fills of the same memory, of which the last one stays.
CUgraph fills(CUdeviceptr to, std::initializer_list<unsigned> values)
{
    const CUgraph graph = new_graph();
    CUgraphNode last = nullptr;
    for (const unsigned value : values)
        last = add_fill(graph, to, value, last ? &last : nullptr);
    return graph;
}

Made with_child(CUgraph child)
{
    Made made{new_graph()};
    EXPECT_CU(cuGraphAddChildGraphNode(&made.node, made.graph, nullptr, 0, child));
    instantiate(made);
    return made;
}

CUstreamBatchMemOpParams write_32(CUdeviceptr to, cuuint32_t value)
{
    CUstreamBatchMemOpParams operation{};
    operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = to;
    operation.writeValue.value = value;
    return operation;
}

CUstreamBatchMemOpParams write_64(CUdeviceptr to, cuuint64_t value)
{
    CUstreamBatchMemOpParams operation{};
    operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operation.writeValue.address = to;
    operation.writeValue.value64 = value;
    return operation;
}

template <size_t count>
CUDA_BATCH_MEM_OP_NODE_PARAMS batch(CUstreamBatchMemOpParams (&operations)[count])
{
    return {current(), count, operations, 0};
}

CUresult add_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS& parameters, Made& made)
{
    made.graph = new_graph();
    return cuGraphAddBatchMemOpNode(&made.node, made.graph, nullptr, 0, &parameters);
}

cuuint64_t word_at(CUdeviceptr address)
{
    cuuint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    return word;
}

} // namespace

TEST(GraphParams, OfAChildGraphAreThoseOfAnotherOfTheSameShape)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kBytes);
        const CUgraph inner = fills(memory, {1, 2});
        const CUgraph outer = new_graph();
        CUgraphNode node = nullptr;
        ASSERT_CU(cuGraphAddChildGraphNode(&node, outer, nullptr, 0, inner));
        const Made made = with_child(outer); // it has two levels
        const CUgraph other = new_graph();
        ASSERT_CU(cuGraphAddChildGraphNode(&node, other, nullptr, 0, fills(memory, {3, 4})));

        ASSERT_CU(cuGraphLaunch(made.exec, nullptr)); // queued, so it is not affected
        ASSERT_CU(cuGraphExecChildGraphNodeSetParams(made.exec, made.node, other));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(peek(memory), 2);
        run(made);
        EXPECT_EQ(peek(memory), 4);

        Made again{made.graph, made.node}; // the node itself is as it was
        instantiate(again);
        run(again);
        EXPECT_EQ(peek(memory), 2);
    });
}

TEST(GraphParams, OfAChildGraphOfAnotherShapeAreRefused)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kBytes);
        const Made made = with_child(fills(memory, {1, 2, 3}));
        const auto set = [&made](CUgraph child) {
            return cuGraphExecChildGraphNodeSetParams(made.exec, made.node, child);
        };
        EXPECT_EQ(set(fills(memory, {4, 5})), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(set(fills(memory, {4, 5, 6, 7})), CUDA_ERROR_INVALID_VALUE);
        const CUgraph fork = new_graph(); // the same nodes, but not in a chain
        const CUgraphNode first = add_fill(fork, memory, 4, nullptr);
        add_fill(fork, memory, 5, &first);
        add_fill(fork, memory, 6, &first);
        EXPECT_EQ(set(fork), CUDA_ERROR_INVALID_VALUE);
        const CUgraph otherwise = new_graph(); // it has another kind of node
        const CUgraphNode fill = add_fill(otherwise, memory, 4, nullptr);
        CUgraphNode nothing = nullptr;
        ASSERT_CU(cuGraphAddEmptyNode(&nothing, otherwise, &fill, 1));
        add_fill(otherwise, memory, 5, &nothing);
        EXPECT_EQ(set(otherwise), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(set(nullptr), CUDA_ERROR_INVALID_VALUE);

        const Made stranger = with_child(fills(memory, {1, 2}));
        EXPECT_EQ(
            cuGraphExecChildGraphNodeSetParams(made.exec, stranger.node, fills(memory, {4, 5})),
            CUDA_ERROR_INVALID_VALUE);
        run(made);
        EXPECT_EQ(peek(memory), 3);
    });
}

TEST(GraphParams, OfANodeOfAnotherKindAreRefused)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kBytes);
        Made made{new_graph()};
        made.node = add_fill(made.graph, memory, 1, nullptr);
        instantiate(made);
        CUDA_HOST_NODE_PARAMS host{};
        host.fn = [](void*) {};
        EXPECT_EQ(cuGraphExecHostNodeSetParams(made.exec, made.node, &host),
                  CUDA_ERROR_INVALID_VALUE);
        const CUDA_MEMSET_NODE_PARAMS other = fill_with(memory, 2);
        ASSERT_CU(cuGraphExecMemsetNodeSetParams(made.exec, made.node, &other, current()));
        run(made);
        EXPECT_EQ(peek(memory), 2);
    });
}

TEST(GraphParams, BatchedOperationsWriteInOrderAndCanWriteElsewhere)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kBytes);
        ASSERT_CU(cuMemsetD8(memory, 0xff, kBytes));
        ASSERT_CU(cuCtxSynchronize());
        CUstreamBatchMemOpParams operations[] = {write_64(memory, 0x1111222233334444),
                                                 write_32(memory, 5)};
        Made made;
        ASSERT_CU(add_batch(batch(operations), made));
        instantiate(made);
        CUstreamBatchMemOpParams elsewhere[] = {write_64(memory + 8, 0x6666777788889999),
                                                write_32(memory + 8, 6)};
        const CUDA_BATCH_MEM_OP_NODE_PARAMS other = batch(elsewhere);
        operations[1] = elsewhere[1] = write_32(memory + 16, 7); // the node has a copy
        ASSERT_CU(cuGraphLaunch(made.exec, nullptr));
        EXPECT_EQ(simgpu_pending_uses(memory, 8), 3u);
        EXPECT_EQ(simgpu_pending_uses(memory + 4, 4), 1u);
        EXPECT_EQ(simgpu_pending_uses(memory + 8, kBytes - 8), 0u);
        ASSERT_CU(cuGraphExecBatchMemOpNodeSetParams(made.exec, made.node, &other));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(word_at(memory), 0x1111222200000005);
        EXPECT_EQ(word_at(memory + 8), ~cuuint64_t{0});
        run(made);
        EXPECT_EQ(word_at(memory + 8), 0x6666777788889999);
        EXPECT_EQ(word_at(memory + 16), 0xffffffff00000007);
    });
}

TEST(GraphParams, BatchedOperationsKeepTheirKindsAndContext)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kBytes);
        CUstreamBatchMemOpParams operations[] = {write_32(memory, 1), write_32(memory, 2)};
        Made made;
        ASSERT_CU(add_batch(batch(operations), made));
        instantiate(made);
        const auto set = [&made](const CUDA_BATCH_MEM_OP_NODE_PARAMS& other) {
            return cuGraphExecBatchMemOpNodeSetParams(made.exec, made.node, &other);
        };
        CUDA_BATCH_MEM_OP_NODE_PARAMS other = batch(operations);
        EXPECT_CU(set(other));
        other.count = 1;
        EXPECT_EQ(set(other), CUDA_ERROR_INVALID_VALUE);
        other = batch(operations);
        other.ctx = create_context();
        EXPECT_EQ(set(other), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(GraphParams, BatchedOperationsThatCannotBeAreRefused)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kBytes);
        Made made;
        CUstreamBatchMemOpParams crooked[] = {write_64(memory + 4, 1)};
        EXPECT_EQ(add_batch(batch(crooked), made), CUDA_ERROR_INVALID_VALUE);
        CUstreamBatchMemOpParams nowhere[] = {write_32(0, 1)};
        EXPECT_EQ(add_batch(batch(nowhere), made), CUDA_ERROR_INVALID_VALUE);
        CUstreamBatchMemOpParams operations[256] = {write_32(memory, 1)};
        EXPECT_EQ(add_batch(batch(operations), made), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(add_batch({current(), 1, nullptr, 0}, made), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(add_batch({current(), 1, operations, 1}, made), CUDA_ERROR_INVALID_VALUE);
        CUstreamBatchMemOpParams wait[] = {write_32(memory, 1)};
        wait[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        EXPECT_EQ(add_batch(batch(wait), made), CUDA_ERROR_NOT_SUPPORTED);
    });
}

#if CUDA_VERSION >= 13000
TEST(GraphParams, AnyNodeCanBeGivenThemByOneCall)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kBytes);
        Made made{new_graph()};
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_MEMSET;
        params.memset.dst = memory;
        params.memset.value = 1;
        params.memset.elementSize = 1;
        params.memset.width = kBytes;
        params.memset.height = 1;
        ASSERT_CU(cuGraphAddNode(&made.node, made.graph, nullptr, nullptr, 0, &params));
        CUstreamBatchMemOpParams operations[] = {write_32(memory, 0x02020202)};
        CUgraphNodeParams writes{};
        writes.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
        writes.memOp = {current(), 1, operations, 0};
        CUgraphNode last = nullptr;
        ASSERT_CU(cuGraphAddNode(&last, made.graph, &made.node, nullptr, 1, &writes));
        instantiate(made);
        run(made);
        EXPECT_EQ(word_at(memory), 0x0101010102020202);
        params.memset.value = 3;
        operations[0].writeValue.address += 4;
        ASSERT_CU(cuGraphExecNodeSetParams(made.exec, made.node, &params));
        ASSERT_CU(cuGraphExecNodeSetParams(made.exec, last, &writes));
        run(made);
        EXPECT_EQ(word_at(memory), 0x0202020203030303);
        EXPECT_EQ(cuGraphExecNodeSetParams(made.exec, last, &params), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(GraphParams, OfGraphMemoryAreNotChanged)
{
    with_context([] {
        Made made{new_graph()};
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
        params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        params.alloc.bytesize = kBytes;
        ASSERT_CU(cuGraphAddNode(&made.node, made.graph, nullptr, nullptr, 0, &params));
        instantiate(made);
        EXPECT_EQ(cuGraphExecNodeSetParams(made.exec, made.node, &params),
                  CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(cuGraphExecChildGraphNodeSetParams(made.exec, made.node, made.graph),
                  CUDA_ERROR_INVALID_VALUE);
    });
}
#endif
