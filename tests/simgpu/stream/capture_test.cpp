// tests/simgpu/stream/capture_test.cpp — what a stream capture records, and what breaks it.
#include <thread>

#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

CUstream begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL)
{
    CUstream stream = nullptr;
    EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    EXPECT_CU(cuStreamBeginCapture(stream, mode));
    return stream;
}

size_t node_count(CUgraph graph)
{
    size_t count = 0;
    EXPECT_CU(cuGraphGetNodes(graph, nullptr, &count));
    return count;
}

// The next work of the second stream comes after all that the first one has now.
void join(CUstream from, CUstream to)
{
    CUevent event = nullptr;
    EXPECT_CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    EXPECT_CU(cuEventRecord(event, from));
    EXPECT_CU(cuStreamWaitEvent(to, event, 0));
    EXPECT_CU(cuEventDestroy(event));
}

CUstream fork_from(CUstream stream)
{
    CUstream side = nullptr;
    EXPECT_CU(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    join(stream, side);
    return side;
}

void expect_broken(CUstream stream)
{
    CUgraph graph = reinterpret_cast<CUgraph>(1);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
}

} // namespace

TEST(Capture, RecordsInsteadOfRunning)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = begin();
        ASSERT_CU(cuMemsetD8Async(address, 5, 64, stream));
        CUgraph graph = nullptr;
        ASSERT_CU(cuStreamEndCapture(stream, &graph));
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(peek(address), 0);
        EXPECT_EQ(node_count(graph), 1u);
        CUgraphExec exec = nullptr;
        ASSERT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        ASSERT_CU(cuGraphLaunch(exec, stream));
        EXPECT_EQ(peek(address), 0);
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(peek(address), 5);
    });
}

TEST(Capture, TurnsAsyncAllocationsIntoNodes)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUstream stream = begin();
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAllocAsync(&address, 3 * kMiB, stream));
        ASSERT_CU(cuMemsetD8Async(address, 6, kMiB, stream));
        ASSERT_CU(cuMemFreeAsync(address, stream));
        CUgraph graph = nullptr;
        ASSERT_CU(cuStreamEndCapture(stream, &graph));
        CUgraphNode nodes[3] = {};
        size_t count = 3;
        ASSERT_CU(cuGraphGetNodes(graph, nodes, &count));
        ASSERT_EQ(count, 3u);
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        ASSERT_CU(cuGraphNodeGetType(nodes[0], &type));
        EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
        ASSERT_CU(cuGraphNodeGetType(nodes[2], &type));
        EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEM_FREE);
        EXPECT_EQ(free_bytes(), all);
        CUgraphExec exec = nullptr;
        ASSERT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        ASSERT_CU(cuGraphLaunch(exec, stream));
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(peek(address), 6);
        EXPECT_EQ(free_bytes(), all - 4 * kMiB);
    });
}

TEST(Capture, IsBrokenByACallThatIsNotAllowed)
{
    with_context([] {
        CUdeviceptr address = 77;
        const CUstream stream = begin();
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        EXPECT_EQ(address, 0u);
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        ASSERT_CU(cuStreamIsCapturing(stream, &status));
        EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        expect_broken(stream);
        EXPECT_CU(cuMemAlloc(&address, 8));
    });
}

TEST(Capture, IsBrokenByWaitingForIt)
{
    with_context([] {
        CUstream stream = begin();
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        expect_broken(stream);
        stream = begin();
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        expect_broken(stream);
    });
}

TEST(Capture, IsBrokenByTheLegacyStream)
{
    with_context([] {
        const CUdeviceptr address = allocate(8);
        const CUstream stream = begin();
        EXPECT_EQ(cuMemsetD8Async(address, 1, 8, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        expect_broken(stream);
    });
}

TEST(Capture, IsNotBrokenByAQuestionAboutTheLegacyStream)
{
    with_context([] {
        const CUstream stream = begin();
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        EXPECT_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        CUgraph graph = nullptr;
        EXPECT_CU(cuStreamEndCapture(stream, &graph));
    });
}

TEST(Capture, RelaxedAllowsWhatIsUnsafe)
{
    with_context([] {
        const CUstream stream = begin(CU_STREAM_CAPTURE_MODE_RELAXED);
        EXPECT_NE(allocate(8), 0u);
        CUgraph graph = nullptr;
        EXPECT_CU(cuStreamEndCapture(stream, &graph));
    });
}

TEST(Capture, AThreadCanRelaxItself)
{
    with_context([] {
        const CUstream stream = begin();
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        ASSERT_CU(cuThreadExchangeStreamCaptureMode(&mode));
        EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
        EXPECT_NE(allocate(8), 0u);
        CUgraph graph = nullptr;
        EXPECT_CU(cuStreamEndCapture(stream, &graph));
    });
}

TEST(Capture, GlobalForbidsInOtherThreadsAndThreadLocalDoesNot)
{
    for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL})
        with_context([mode] {
            CUcontext context = nullptr;
            ASSERT_CU(cuCtxGetCurrent(&context));
            begin(mode);
            CUresult elsewhere = CUDA_SUCCESS;
            std::thread([&] {
                CUdeviceptr address = 0;
                ASSERT_CU(cuCtxSetCurrent(context));
                elsewhere = cuMemAlloc(&address, 8);
            }).join();
            EXPECT_EQ(elsewhere, mode == CU_STREAM_CAPTURE_MODE_GLOBAL
                                     ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                     : CUDA_SUCCESS);
        });
}

TEST(Capture, ForksAndJoinsThroughEvents)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = begin();
        CUstream side = nullptr;
        CUevent fork = nullptr;
        CUevent join = nullptr;
        ASSERT_CU(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
        ASSERT_CU(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
        ASSERT_CU(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
        ASSERT_CU(cuMemsetD8Async(address, 1, 32, stream));
        ASSERT_CU(cuEventRecord(fork, stream));
        EXPECT_EQ(cuEventQuery(fork), CUDA_ERROR_CAPTURED_EVENT);
        ASSERT_CU(cuStreamWaitEvent(side, fork, 0));
        ASSERT_CU(cuMemcpyDtoDAsync(address + 32, address, 32, side));
        ASSERT_CU(cuEventRecord(join, side));
        ASSERT_CU(cuStreamWaitEvent(stream, join, 0));
        ASSERT_CU(cuMemsetD8Async(address, 2, 32, stream));
        CUgraph graph = nullptr;
        ASSERT_CU(cuStreamEndCapture(stream, &graph));
        CUgraphExec exec = nullptr;
        ASSERT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        ASSERT_CU(cuGraphLaunch(exec, stream));
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(peek(address), 2);
        EXPECT_EQ(peek(address + 32), 1);
    });
}

TEST(Capture, EndsWithAnErrorWhenAForkIsNotJoined)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = begin();
        CUstream side = nullptr;
        CUevent fork = nullptr;
        ASSERT_CU(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
        ASSERT_CU(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
        ASSERT_CU(cuEventRecord(fork, stream));
        ASSERT_CU(cuStreamWaitEvent(side, fork, 0));
        ASSERT_CU(cuMemsetD8Async(address, 1, 32, side));
        CUgraph graph = nullptr;
        EXPECT_EQ(cuStreamEndCapture(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    });
}

TEST(Capture, OutlivesAStreamThatHasRejoinedIt)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = begin();
        const CUstream side = fork_from(stream);
        ASSERT_CU(cuMemsetD8Async(address, 3, 32, side));
        join(side, stream);
        ASSERT_CU(cuStreamDestroy(side));
        ASSERT_CU(cuMemsetD8Async(address + 32, 4, 32, stream));
        CUgraph graph = nullptr;
        ASSERT_CU(cuStreamEndCapture(stream, &graph));
        EXPECT_EQ(node_count(graph), 2u);
        CUgraphExec exec = nullptr;
        ASSERT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        ASSERT_CU(cuGraphLaunch(exec, stream));
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(peek(address), 3);
        EXPECT_EQ(peek(address + 32), 4);
    });
}

TEST(Capture, OutlivesAStreamThatHasAddedNothing)
{
    with_context([] {
        const CUstream stream = begin();
        ASSERT_CU(cuStreamDestroy(fork_from(stream)));
        CUgraph graph = nullptr;
        EXPECT_CU(cuStreamEndCapture(stream, &graph));
    });
}

TEST(Capture, OutlivesAStreamThatHasJoinedAnotherFork)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = begin();
        const CUstream first = fork_from(stream);
        const CUstream second = fork_from(stream);
        ASSERT_CU(cuMemsetD8Async(address, 3, 32, first));
        join(first, second);
        ASSERT_CU(cuStreamDestroy(first));
        join(second, stream);
        CUgraph graph = nullptr;
        EXPECT_CU(cuStreamEndCapture(stream, &graph));
    });
}

TEST(Capture, IsBrokenByTheEndOfAStreamThatHasNotRejoinedIt)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = begin();
        const CUstream side = fork_from(stream);
        ASSERT_CU(cuMemsetD8Async(address, 3, 32, side));
        ASSERT_CU(cuStreamDestroy(side));
        expect_broken(stream);
    });
}

TEST(Capture, EndsWithItsContext)
{
    with_context([] {
        const CUcontext doomed = create_context();
        begin();
        ASSERT_CU(cuCtxDestroy(doomed));
        CUdeviceptr address = 0;
        EXPECT_CU(cuMemAlloc(&address, 64)); // no capture forbids it
    });
}
