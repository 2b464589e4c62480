// tests/simgpu/stream/stream_test.cpp — work is asynchronous, and ordered as cuda.h promises.
#include <atomic>
#include <dlfcn.h>
#include <future>
#include <thread>

#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

CUstream stream_with(unsigned flags)
{
    CUstream stream = nullptr;
    EXPECT_CU(cuStreamCreate(&stream, flags));
    return stream;
}

CUevent event_with(unsigned flags = CU_EVENT_DEFAULT)
{
    CUevent event = nullptr;
    EXPECT_CU(cuEventCreate(&event, flags));
    return event;
}

} // namespace

TEST(Stream, DoesNothingUntilSomeoneWaits)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = stream_with(CU_STREAM_DEFAULT);
        ASSERT_CU(cuMemsetD8Async(address, 0x5a, 64, stream));
        EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        EXPECT_EQ(peek(address), 0);
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(peek(address), 0x5a);
        EXPECT_CU(cuStreamQuery(stream));
    });
}

TEST(Stream, CopiesPinnedMemoryAsItIsWhenTheCopyRuns)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = stream_with(CU_STREAM_DEFAULT);
        void* pinned = nullptr;
        ASSERT_CU(cuMemHostAlloc(&pinned, 64, 0));
        char pageable = 'a';
        *static_cast<char*>(pinned) = 'a';
        ASSERT_CU(cuMemcpyHtoDAsync(address, pinned, 1, stream));
        ASSERT_CU(cuMemcpyHtoDAsync(address + 1, &pageable, 1, stream));
        *static_cast<char*>(pinned) = 'b';
        pageable = 'b';
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(peek(address), 'b');     // the program's error can be seen
        EXPECT_EQ(peek(address + 1), 'a'); // it was staged during the call
    });
}

TEST(Stream, RunsItsWorkByItselfAfterTheDelay)
{
    with_context({"256MiB", "0"}, [] {
        std::promise<void> ran;
        const CUstream stream = stream_with(CU_STREAM_NON_BLOCKING);
        ASSERT_CU(cuLaunchHostFunc(
            stream, [](void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); },
            &ran));
        EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
    });
}

TEST(Stream, OfTheLegacyKindWaitsForBlockingOnesOnly)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream blocking = stream_with(CU_STREAM_DEFAULT);
        const CUstream apart = stream_with(CU_STREAM_NON_BLOCKING);
        ASSERT_CU(cuMemsetD8Async(address, 1, 1, blocking));
        ASSERT_CU(cuMemsetD8Async(address + 1, 1, 1, apart));
        ASSERT_CU(cuMemsetD8Async(address + 2, 1, 1, nullptr));
        ASSERT_CU(cuStreamSynchronize(nullptr));
        EXPECT_EQ(peek(address), 1);
        EXPECT_EQ(peek(address + 1), 0);
        EXPECT_EQ(peek(address + 2), 1);
        EXPECT_EQ(cuStreamQuery(apart), CUDA_ERROR_NOT_READY);
    });
}

TEST(Stream, ThatBlocksWaitsForTheLegacyStream)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream blocking = stream_with(CU_STREAM_DEFAULT);
        ASSERT_CU(cuMemsetD8Async(address, 1, 1, nullptr));
        ASSERT_CU(cuMemsetD8Async(address, 2, 1, blocking));
        ASSERT_CU(cuStreamSynchronize(blocking));
        EXPECT_EQ(peek(address), 2);
        EXPECT_CU(cuStreamQuery(nullptr));
    });
}

TEST(Stream, PerThreadFormsUseAStreamOfTheThread)
{
    with_context([] {
        using Memset = CUresult (*)(CUdeviceptr, unsigned char, size_t, CUstream);
        using Synchronize = CUresult (*)(CUstream);
        const auto memset = reinterpret_cast<Memset>(::dlsym(RTLD_DEFAULT, "cuMemsetD8Async_ptsz"));
        const auto synchronize =
            reinterpret_cast<Synchronize>(::dlsym(RTLD_DEFAULT, "cuStreamSynchronize_ptsz"));
        CUcontext context = nullptr;
        ASSERT_CU(cuCtxGetCurrent(&context));
        const CUdeviceptr address = allocate(64);
        ASSERT_CU(memset(address, 1, 1, nullptr));
        std::thread([&] {
            ASSERT_CU(cuCtxSetCurrent(context));
            ASSERT_CU(synchronize(nullptr)); // this thread's stream is empty
        }).join();
        EXPECT_EQ(peek(address), 0);
        ASSERT_CU(synchronize(nullptr));
        EXPECT_EQ(peek(address), 1);
    });
}

TEST(Stream, WaitsForAnEventOfAnother)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream first = stream_with(CU_STREAM_NON_BLOCKING);
        const CUstream second = stream_with(CU_STREAM_NON_BLOCKING);
        const CUevent event = event_with();
        ASSERT_CU(cuMemsetD8Async(address, 1, 64, first));
        ASSERT_CU(cuEventRecord(event, first));
        ASSERT_CU(cuMemsetD8Async(address, 2, 64, first)); // it comes after the event
        ASSERT_CU(cuStreamWaitEvent(second, event, 0));
        ASSERT_CU(cuMemcpyDtoDAsync(address + 32, address, 1, second));
        ASSERT_CU(cuStreamSynchronize(second));
        EXPECT_EQ(peek(address), 1);
        EXPECT_EQ(peek(address + 32), 1);
        EXPECT_EQ(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
    });
}

TEST(Event, IsReadyWhenItsStreamReachedIt)
{
    with_context([] {
        const CUstream stream = stream_with(CU_STREAM_DEFAULT);
        const CUevent before = event_with();
        const CUevent after = event_with();
        EXPECT_CU(cuEventQuery(before)); // it was never recorded
        ASSERT_CU(cuEventRecord(before, stream));
        ASSERT_CU(cuEventRecord(after, stream));
        EXPECT_EQ(cuEventQuery(before), CUDA_ERROR_NOT_READY);
        float milliseconds = -1;
        EXPECT_EQ(cuEventElapsedTime(&milliseconds, before, after), CUDA_ERROR_NOT_READY);
        ASSERT_CU(cuEventSynchronize(after));
        EXPECT_CU(cuEventQuery(before));
        ASSERT_CU(cuEventElapsedTime(&milliseconds, before, after));
        EXPECT_GE(milliseconds, 0);
        ASSERT_CU(cuEventDestroy(before));
        EXPECT_EQ(cuEventQuery(before), CUDA_ERROR_INVALID_HANDLE);
    });
}

TEST(Stream, FinishesItsWorkAfterItsDestruction)
{
    with_context([] {
        const CUdeviceptr address = allocate(64);
        const CUstream stream = stream_with(CU_STREAM_DEFAULT);
        ASSERT_CU(cuMemsetD8Async(address, 9, 1, stream));
        ASSERT_CU(cuStreamDestroy(stream));
        EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(peek(address), 9);
    });
}

TEST(Stream, FreeWaitsForQueuedWork)
{
    with_context([] {
        const CUdeviceptr source = allocate(64);
        void* pinned = nullptr;
        ASSERT_CU(cuMemHostAlloc(&pinned, 64, 0));
        const CUstream stream = stream_with(CU_STREAM_NON_BLOCKING);
        ASSERT_CU(cuMemsetD8Async(source, 3, 64, stream));
        ASSERT_CU(cuMemcpyDtoHAsync(pinned, source, 64, stream));
        ASSERT_CU(cuMemFree(source));
        EXPECT_EQ(*static_cast<char*>(pinned), 3);
    });
}

TEST(Stream, HostFunctionMayNotCallTheDriver)
{
    with_context([] {
        static CUresult inside = CUDA_SUCCESS;
        ASSERT_CU(cuLaunchHostFunc(
            nullptr,
            [](void*) {
                CUdeviceptr address = 0;
                inside = cuMemAlloc(&address, 8);
            },
            nullptr));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(inside, CUDA_ERROR_NOT_PERMITTED);
    });
}

TEST(Stream, ManyThreadsGetAllTheirWorkDone)
{
    with_context({"256MiB", "10"}, [] {
        CUcontext context = nullptr;
        ASSERT_CU(cuCtxGetCurrent(&context));
        static std::atomic<int> done{0};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([context] {
                ASSERT_CU(cuCtxSetCurrent(context));
                const CUstream stream = stream_with(CU_STREAM_DEFAULT);
                for (int count = 0; count < 3000; ++count) {
                    ASSERT_CU(cuLaunchHostFunc(
                        count % 3 ? stream : nullptr, [](void*) { ++done; }, nullptr));
                    const CUdeviceptr address = count % 50 == 0 ? allocate(100) : 0;
                    ASSERT_CU(cuMemFree(address));
                }
                ASSERT_CU(cuStreamSynchronize(stream));
                ASSERT_CU(cuStreamDestroy(stream));
            });
        for (auto& thread : threads)
            thread.join();
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(done.load(), 12000);
    });
}

TEST(Launch, RunsTheHostVersionWithCopiesOfTheArguments)
{
    with_context([] {
        static unsigned seen_grid = 0;
        const auto host_version = [](const unsigned grid[3], const unsigned[3], unsigned,
                                     void** arguments) {
            seen_grid = grid[0];
            **static_cast<int**>(arguments[0]) += *static_cast<int*>(arguments[1]);
        };
        const size_t sizes[] = {sizeof(int*), sizeof(int)};
        simgpu_set_kernel("_Z3addPii", host_version, 2, sizes);
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        ASSERT_CU(cuModuleLoadData(&module, "any image"));
        ASSERT_CU(cuModuleGetFunction(&function, module, "_Z3addPii"));
        CUdeviceptr address = allocate(sizeof(int));
        ASSERT_CU(cuMemsetD32(address, 40, 1));
        int addend = 2;
        void* arguments[] = {&address, &addend};
        ASSERT_CU(cuLaunchKernel(function, 7, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
        addend = 1000; // the launch has its own copy
        int result = 0;
        ASSERT_CU(cuMemcpyDtoH(&result, address, sizeof result));
        EXPECT_EQ(result, 42);
        EXPECT_EQ(seen_grid, 7u);
        EXPECT_EQ(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, nullptr, arguments, nullptr),
                  CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuModuleUnload(module));
        EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
                  CUDA_ERROR_INVALID_HANDLE);
    });
}
