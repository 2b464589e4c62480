// tests/simgpu/memory/pool_test.cpp — stream-ordered allocation.
#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

CUstream new_stream()
{
    CUstream stream = nullptr;
    EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

CUdeviceptr allocate_async(size_t bytes, CUstream stream)
{
    CUdeviceptr address = 0;
    EXPECT_CU(cuMemAllocAsync(&address, bytes, stream));
    return address;
}

cuuint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which)
{
    cuuint64_t value = 0;
    EXPECT_CU(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

CUmemoryPool new_pool()
{
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    EXPECT_CU(cuMemPoolCreate(&pool, &properties));
    return pool;
}

} // namespace

TEST(Pool, ReusesAtOnceInTheStreamThatFreed)
{
    with_context([] {
        const CUstream stream = new_stream();
        const CUdeviceptr first = allocate_async(kMiB, stream);
        ASSERT_CU(cuMemsetD8Async(first, 1, kMiB, stream));
        ASSERT_CU(cuMemFreeAsync(first, stream));
        EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        EXPECT_EQ(allocate_async(kMiB, stream), first);
    });
}

TEST(Pool, QueuedWorkMayUseWhatIsFreedBehindIt)
{
    with_context([] {
        const CUstream stream = new_stream();
        const CUdeviceptr whole = allocate_async(kMiB, stream);
        ASSERT_CU(cuMemsetD8Async(whole, 1, kMiB, stream));
        ASSERT_CU(cuMemFreeAsync(whole, stream));
        EXPECT_CU(cuStreamSynchronize(stream));

        const CUdeviceptr cut_up = allocate_async(kMiB, stream);
        ASSERT_CU(cuMemsetD8Async(cut_up, 1, kMiB, stream));
        ASSERT_CU(cuMemFreeAsync(cut_up, stream));
        EXPECT_EQ(allocate_async(kMiB / 2, stream), cut_up);
        EXPECT_CU(cuStreamSynchronize(stream));
    });
}

TEST(Pool, ReusesInAnotherStreamOnlyWhatIsReallyFree)
{
    with_context([] {
        const CUstream first_stream = new_stream();
        const CUstream second_stream = new_stream();
        const CUdeviceptr first = allocate_async(kMiB, first_stream);
        ASSERT_CU(cuMemFreeAsync(first, first_stream));
        const CUdeviceptr second = allocate_async(kMiB, second_stream);
        EXPECT_NE(second, first);
        const CUdeviceptr keeps_the_segment = allocate_async(kMiB, first_stream);
        ASSERT_CU(cuStreamSynchronize(first_stream));
        ASSERT_CU(cuMemFreeAsync(keeps_the_segment, first_stream));
        ASSERT_CU(cuStreamSynchronize(first_stream));
        EXPECT_EQ(allocate_async(kMiB, second_stream), first);
    });
}

TEST(Pool, CountsReservedAndUsed)
{
    with_context([] {
        const CUmemoryPool pool = new_pool();
        const CUstream stream = new_stream();
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAllocFromPoolAsync(&address, 3 * kMiB, pool, stream));
        EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 3 * kMiB);
        EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 32 * kMiB);
        ASSERT_CU(cuMemFreeAsync(address, stream));
        EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
        EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 32 * kMiB);
        EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 3 * kMiB);
        EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Pool, GivesBackWhatIsAboveItsThresholdAtASynchronisation)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUmemoryPool pool = new_pool();
        const CUstream stream = new_stream();
        CUdeviceptr address = 0;
        for (const cuuint64_t threshold : {cuuint64_t{0}, cuuint64_t{64 * kMiB}}) {
            cuuint64_t wanted = threshold;
            ASSERT_CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &wanted));
            ASSERT_CU(cuMemAllocFromPoolAsync(&address, kMiB, pool, stream));
            ASSERT_CU(cuMemFreeAsync(address, stream));
            ASSERT_CU(cuStreamSynchronize(stream));
            EXPECT_EQ(free_bytes(), threshold == 0 ? all : all - 32 * kMiB);
        }
        ASSERT_CU(cuMemPoolTrimTo(pool, 0));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Pool, OutlivesItsDestructionInItsAllocations)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUmemoryPool pool = new_pool();
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAllocFromPoolAsync(&address, kMiB, pool, nullptr));
        ASSERT_CU(cuMemPoolDestroy(pool));
        EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_CU(cuMemcpyHtoD(address, "x", 1));
        ASSERT_CU(cuMemFree(address));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Pool, RunsOutWhenTheDeviceDoes)
{
    with_context([] {
        CUdeviceptr address = 77;
        EXPECT_EQ(cuMemAllocAsync(&address, 300 * kMiB, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(address, 0u);
        EXPECT_CU(cuMemAllocAsync(&address, 250 * kMiB, nullptr));
    });
}

TEST(Pool, TheChosenOneServesTheDevice)
{
    with_context([] {
        CUmemoryPool standard = nullptr;
        CUmemoryPool current = nullptr;
        ASSERT_CU(cuDeviceGetDefaultMemPool(&standard, 0));
        ASSERT_CU(cuDeviceGetMemPool(&current, 0));
        EXPECT_EQ(current, standard);
        const CUmemoryPool pool = new_pool();
        ASSERT_CU(cuDeviceSetMemPool(0, pool));
        allocate_async(kMiB, nullptr);
        EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), kMiB);
        EXPECT_EQ(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemPoolDestroy(pool));
        ASSERT_CU(cuDeviceGetMemPool(&current, 0));
        EXPECT_EQ(current, standard);
    });
}

TEST(Pool, FreesPlainMemoryInStreamOrder)
{
    with_context([] {
        const CUstream stream = new_stream();
        const CUdeviceptr plain = allocate(kMiB);
        ASSERT_CU(cuMemFreeAsync(plain, stream));
        EXPECT_CU(cuMemcpyHtoD(plain, "x", 1)); // it is not freed yet
        ASSERT_CU(cuStreamSynchronize(stream));
        EXPECT_EQ(cuMemFree(plain), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Pool, HasNoRoomForASizeThatRoundsUpToNothing)
{
    with_context([] {
        CUdeviceptr address = 77;
        EXPECT_EQ(cuMemAllocAsync(&address, ~size_t{0}, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(address, 0u);
    });
}

TEST(Pool, PlainMemoryThatAStreamWillFreeIsFreedOnce)
{
    with_context([] {
        const CUstream stream = new_stream();
        const CUdeviceptr plain = allocate(kMiB);
        ASSERT_CU(cuMemFreeAsync(plain, stream));
        EXPECT_EQ(cuMemFreeAsync(plain, stream), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemFree(plain), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuStreamSynchronize(stream));
    });
}
