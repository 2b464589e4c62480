// tests/simgpu/stream/context_event_test.cpp — events that record and hold back a whole context.
#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

#if CUDA_VERSION >= 12050
namespace {

CUstream open_stream()
{
    CUstream stream = nullptr;
    EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

CUevent open_event()
{
    CUevent event = nullptr;
    EXPECT_CU(cuEventCreate(&event, CU_EVENT_DEFAULT));
    return event;
}

CUcontext current()
{
    CUcontext context = nullptr;
    EXPECT_CU(cuCtxGetCurrent(&context));
    return context;
}

void expect_broken(CUstream stream)
{
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

} // namespace

TEST(ContextEvent, HoldsTheWorkOfEveryStream)
{
    with_context([] {
        const CUdeviceptr memory = allocate(64);
        const CUstream first = open_stream();
        const CUstream second = open_stream();
        const CUevent event = open_event();
        ASSERT_CU(cuMemsetD8Async(memory, 1, 1, first));
        ASSERT_CU(cuMemsetD8Async(memory + 1, 1, 1, second));
        ASSERT_CU(cuCtxRecordEvent(current(), event));
        ASSERT_CU(cuMemsetD8Async(memory + 2, 1, 1, second)); // it comes after the event
        EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
        ASSERT_CU(cuEventSynchronize(event));
        EXPECT_CU(cuEventQuery(event));
        EXPECT_EQ(peek(memory), 1);
        EXPECT_EQ(peek(memory + 1), 1);
        EXPECT_EQ(peek(memory + 2), 0);
    });
}

TEST(ContextEvent, IsRecordedInItsOwnContextOnly)
{
    with_context([] {
        const CUevent event = open_event();
        const CUcontext primary = current();
        const CUcontext other = create_context();
        EXPECT_EQ(cuCtxRecordEvent(other, event), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuCtxRecordEvent(nullptr, event), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_CU(cuCtxRecordEvent(primary, event));
        ASSERT_CU(cuEventDestroy(event));
        EXPECT_EQ(cuCtxRecordEvent(primary, event), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuCtxWaitEvent(primary, event), CUDA_ERROR_INVALID_HANDLE);
    });
}

TEST(ContextEvent, IsWaitedForByAllLaterWorkOfAContext)
{
    with_context([] {
        const CUdeviceptr memory = allocate(64);
        const CUstream stream = open_stream();
        const CUevent event = open_event();
        ASSERT_CU(cuMemsetD8Async(memory, 1, 1, stream));
        ASSERT_CU(cuEventRecord(event, stream));
        const CUcontext other = create_context();
        const CUstream before = open_stream();
        ASSERT_CU(cuMemsetD8Async(memory + 1, 1, 1, before));
        ASSERT_CU(cuCtxWaitEvent(other, event));
        ASSERT_CU(cuStreamSynchronize(before)); // what was there before does not wait
        EXPECT_EQ(peek(memory + 1), 1);
        EXPECT_EQ(peek(memory), 0);
        const CUstream after = open_stream();
        ASSERT_CU(cuMemsetD8Async(memory + 2, 1, 1, after));
        ASSERT_CU(cuStreamSynchronize(after));
        EXPECT_EQ(peek(memory), 1);
    });
}

TEST(ContextEvent, BreaksTheCapturesOfItsContext)
{
    with_context([] {
        const CUevent event = open_event();
        ASSERT_CU(cuEventRecord(event, nullptr));
        for (const auto call : {cuCtxRecordEvent, cuCtxWaitEvent}) {
            const CUstream stream = open_stream();
            ASSERT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
            EXPECT_EQ(call(current(), event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            expect_broken(stream);
        }
        EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY); // as it was before
    });
}

TEST(ContextEvent, OfACaptureCannotBeWaitedFor)
{
    with_context([] {
        const CUstream stream = open_stream();
        const CUevent event = open_event();
        ASSERT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        ASSERT_CU(cuEventRecord(event, stream));
        const CUcontext other = create_context(); // it has no stream that is captured
        EXPECT_EQ(cuCtxWaitEvent(other, event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        CUcontext popped = nullptr;
        ASSERT_CU(cuCtxPopCurrent(&popped));
        expect_broken(stream);
        EXPECT_CU(cuCtxRecordEvent(current(), event)); // it is no point of a capture any more
        EXPECT_CU(cuEventSynchronize(event));
    });
}

TEST(ContextEvent, AndSynchronisationBreakACaptureThatCameFromAnotherContext)
{
    with_context([] {
        const CUcontext primary = current();
        const CUstream stream = open_stream();
        const CUevent fork = open_event();
        ASSERT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        ASSERT_CU(cuEventRecord(fork, stream));
        create_context();
        const CUstream side = open_stream();
        ASSERT_CU(cuStreamWaitEvent(side, fork, 0));
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        ASSERT_CU(cuCtxSetCurrent(primary));
        expect_broken(stream);
    });
}
#else
TEST(ContextEvent, IsInNewerHeaders)
{
    GTEST_SKIP() << "the headers of CUDA 12.5 are not here";
}
#endif
