// tests/simgpu/stream/pending_uses_test.cpp — the memory that queued work is going to use is known.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

CUstream open_stream(unsigned flags = CU_STREAM_NON_BLOCKING)
{
    CUstream stream = nullptr;
    EXPECT_CU(cuStreamCreate(&stream, flags));
    return stream;
}

std::string first_use(CUdeviceptr address, size_t bytes)
{
    char text[200] = "";
    simgpu_describe_pending_use(address, bytes, text, sizeof text);
    return text;
}

CUfunction function_named(const char* name)
{
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_CU(cuModuleLoadData(&module, "any image"));
    EXPECT_CU(cuModuleGetFunction(&function, module, name));
    return function;
}

} // namespace

TEST(PendingUses, AreTheBytesThatAFillWillWrite)
{
    with_context([] {
        const CUdeviceptr memory = allocate(4096);
        const CUstream stream = open_stream();
        EXPECT_EQ(simgpu_pending_uses(memory, 4096), 0u);
        ASSERT_CU(cuMemsetD32Async(memory + 1024, 7, 256, stream));
        EXPECT_EQ(simgpu_pending_uses(memory, 4096), 1u);
        EXPECT_EQ(simgpu_pending_uses(memory, 1024), 0u); // these are the bytes before it
        EXPECT_EQ(simgpu_pending_uses(memory, 1025), 1u);
        EXPECT_EQ(simgpu_pending_uses(memory + 2047, 1), 1u); // its last byte
        EXPECT_EQ(simgpu_pending_uses(memory + 2048, 2048), 0u);
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(simgpu_pending_uses(memory, 4096), 0u);
    });
}

TEST(PendingUses, AreBothSidesOfACopy)
{
    with_context([] {
        const CUdeviceptr from = allocate(4096);
        const CUdeviceptr to = allocate(4096);
        const CUstream stream = open_stream();
        ASSERT_CU(cuMemcpyDtoDAsync(to, from, 64, stream));
        EXPECT_EQ(simgpu_pending_uses(from, 4096), 1u);
        EXPECT_EQ(simgpu_pending_uses(to, 4096), 1u);
        EXPECT_NE(first_use(from, 1).find("cuMemcpyDtoDAsync_v2 reads 64 bytes"), std::string::npos)
            << first_use(from, 1);
        EXPECT_NE(first_use(to, 1).find("writes 64 bytes"), std::string::npos);
    });
}

TEST(PendingUses, AreTheRowsOfAPitchedCopyAndTheRowsOfABatch)
{
    with_context([] {
        const CUdeviceptr memory = allocate(kMiB);
        const CUdeviceptr other = allocate(kMiB);
        const CUstream stream = open_stream();
        CUDA_MEMCPY2D rows{};
        rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        rows.srcDevice = memory;
        rows.dstDevice = other;
        rows.srcPitch = rows.dstPitch = 512;
        rows.WidthInBytes = 100;
        rows.Height = 3;
        ASSERT_CU(cuMemcpy2DAsync(&rows, stream));
        EXPECT_EQ(simgpu_pending_uses(memory + 1024 + 99, 1), 1u);
        EXPECT_EQ(simgpu_pending_uses(memory + 1024 + 100, 100), 0u);
#if CUDA_VERSION >= 13000
        CUdeviceptr to[] = {other + 4096, other + 8192};
        CUdeviceptr from[] = {memory + 4096, memory + 8192};
        size_t sizes[] = {32, 64};
        CUmemcpyAttributes attributes{};
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        size_t starts[] = {0};
        ASSERT_CU(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, starts, 1, stream));
        EXPECT_EQ(simgpu_pending_uses(other + 4096, 8192), 2u);
        EXPECT_EQ(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, starts, 1, nullptr),
                  CUDA_ERROR_INVALID_VALUE);
#endif
    });
}

TEST(PendingUses, OfAKernelGoAsFarAsItsArgumentsSay)
{
    with_context([] {
        const size_t sizes[] = {sizeof(CUdeviceptr), sizeof(size_t), sizeof(CUdeviceptr)};
        const auto nothing = [](const unsigned*, const unsigned*, unsigned, void**) {};
        EXPECT_EQ(simgpu_set_kernel_range("uses", 0, 1), -1); // the kernel is not known yet
        simgpu_set_kernel("uses", nothing, 3, sizes);
        EXPECT_EQ(simgpu_set_kernel_range("uses", 0, 3), -1);
        ASSERT_EQ(simgpu_set_kernel_range("uses", 0, 1), 0);
        CUdeviceptr far = allocate(4096);
        CUdeviceptr near = allocate(4096);
        size_t bytes = 1000;
        void* arguments[] = {&far, &bytes, &near};
        ASSERT_CU(cuLaunchKernel(function_named("uses"), 1, 1, 1, 1, 1, 1, 0, open_stream(),
                                 arguments, nullptr));
        EXPECT_EQ(simgpu_pending_uses(far + 999, 1), 1u);
        EXPECT_EQ(simgpu_pending_uses(far + 1000, 1), 0u);
        EXPECT_EQ(simgpu_pending_uses(near, 1), 1u);
        EXPECT_EQ(simgpu_pending_uses(near + 1, 1), 0u); // its size was not said
    });
}

TEST(PendingUses, OfAGraphBeginWithItsLaunch)
{
    with_context([] {
        const CUdeviceptr memory = allocate(4096);
        const CUstream stream = open_stream();
        ASSERT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        ASSERT_CU(cuMemsetD8Async(memory, 1, 64, stream));
        CUgraph graph = nullptr;
        CUgraphExec exec = nullptr;
        ASSERT_CU(cuStreamEndCapture(stream, &graph));
        ASSERT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        EXPECT_EQ(simgpu_pending_uses(memory, 64), 0u);
        ASSERT_CU(cuGraphLaunch(exec, stream));
        ASSERT_CU(cuGraphExecDestroy(exec)); // the launch is still queued
        EXPECT_EQ(simgpu_pending_uses(memory, 64), 1u);
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(simgpu_pending_uses(memory, 64), 0u);
    });
}

TEST(PendingUses, AreSeenWhileTheWorkRuns)
{
    with_context([] {
        struct Gate {
            std::mutex mutex;
            std::condition_variable changed;
            bool inside = false;
            bool open = false;
        };
        static Gate gate;
        const size_t sizes[] = {sizeof(CUdeviceptr)};
        simgpu_set_kernel(
            "waits",
            [](const unsigned*, const unsigned*, unsigned, void**) {
                std::unique_lock lock(gate.mutex);
                gate.inside = true;
                gate.changed.notify_all();
                gate.changed.wait(lock, [] { return gate.open; });
            },
            1, sizes);
        CUdeviceptr memory = allocate(64);
        void* arguments[] = {&memory};
        const CUstream stream = open_stream();
        ASSERT_CU(cuLaunchKernel(function_named("waits"), 1, 1, 1, 1, 1, 1, 0, stream, arguments,
                                 nullptr));
        CUcontext context = nullptr;
        ASSERT_CU(cuCtxGetCurrent(&context));
        std::thread waiter([&] {
            ASSERT_CU(cuCtxSetCurrent(context));
            ASSERT_CU(cuStreamSynchronize(stream));
        });
        {
            std::unique_lock lock(gate.mutex);
            gate.changed.wait(lock, [] { return gate.inside; });
            EXPECT_EQ(simgpu_pending_uses(memory, 64), 1u);
            EXPECT_NE(first_use(memory, 64).find("running"), std::string::npos);
            gate.open = true;
        }
        gate.changed.notify_all();
        waiter.join();
        EXPECT_EQ(simgpu_pending_uses(memory, 64), 0u);
    });
}

TEST(PendingUses, OfOtherContextsAreWaitedForByAFree)
{
    with_context({"2x256MiB"}, [] {
        const CUdeviceptr memory = allocate(64);
        CUcontext first = nullptr;
        CUcontext second = nullptr;
        ASSERT_CU(cuCtxGetCurrent(&first));
        ASSERT_CU(cuDevicePrimaryCtxRetain(&second, 1));
        ASSERT_CU(cuCtxSetCurrent(second));
        const CUdeviceptr mine = allocate(64);
        const CUstream stream = open_stream();
        // This needs no peer access.
        ASSERT_CU(cuMemcpyPeerAsync(mine, second, memory, first, 64, stream));
        ASSERT_CU(cuMemsetD8Async(mine, 1, 64, stream));
        ASSERT_CU(cuCtxSetCurrent(first));
        EXPECT_EQ(simgpu_pending_uses(memory, 64), 1u);
        ASSERT_CU(cuMemFree(memory));
        EXPECT_EQ(simgpu_pending_uses(memory, 64), 0u);
        EXPECT_EQ(simgpu_pending_uses(mine, 64), 1u); // nothing waited for more than that
    });
}
