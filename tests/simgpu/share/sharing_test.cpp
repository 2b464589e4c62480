// tests/simgpu/share/sharing_test.cpp — pools, physical memory and address ranges handed to others.
#include "tests/simgpu/driver.hpp"
#include "tests/simgpu/physical.hpp"
#include "tests/simgpu/pipe.hpp"

using namespace simgpu::test;

namespace {

constexpr auto kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

CUmemoryPool new_pool(CUmemAllocationHandleType type)
{
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.handleTypes = type;
    CUmemoryPool pool = nullptr;
    EXPECT_CU(cuMemPoolCreate(&pool, &properties));
    return pool;
}

int export_pool(CUmemoryPool pool)
{
    int file = -1;
    EXPECT_CU(cuMemPoolExportToShareableHandle(&file, pool, kFile, 0));
    return file;
}

CUdeviceptr allocate_from(CUmemoryPool pool, size_t bytes)
{
    CUdeviceptr address = 0;
    EXPECT_CU(cuMemAllocFromPoolAsync(&address, bytes, pool, nullptr));
    return address;
}

struct Shared {
    int file;
    CUmemPoolPtrExportData pointer;
};

} // namespace

TEST(PoolSharing, CrossesProcesses)
{
    const Pipe to_importer;
    const Pipe replies;
    before_init({}, [&] {
        const pid_t exporter = ::getpid();
        const pid_t importer = vramscope::test::start_child([&] {
            const auto shared = to_importer.receive<Shared>();
            ASSERT_CU(cuInit(0));
            create_context();
            const size_t all = free_bytes();
            CUmemoryPool pool = nullptr;
            const int file = take_over(exporter, shared.file);
            ASSERT_CU(cuMemPoolImportFromShareableHandle(&pool, as_handle(file), kFile, 0));
            auto pointer = shared.pointer;
            CUdeviceptr first = 0;
            CUdeviceptr again = 0;
            ASSERT_CU(cuMemPoolImportPointer(&first, pool, &pointer));
            ASSERT_CU(cuMemPoolImportPointer(&again, pool, &pointer));
            EXPECT_EQ(again, first);
            EXPECT_EQ(free_bytes(), all); // the bytes are the exporter's
            EXPECT_EQ(peek(first), 'p');
            ASSERT_CU(cuMemcpyHtoD(first, "i", 1));
            EXPECT_EQ(cuIpcCloseMemHandle(first), CUDA_ERROR_INVALID_VALUE);
            EXPECT_CU(cuMemFree(first)); // one free ends both
            EXPECT_EQ(cuMemFreeAsync(again, nullptr), CUDA_ERROR_INVALID_VALUE);
            ASSERT_CU(cuMemPoolImportPointer(&again, pool, &pointer));
            EXPECT_CU(cuMemFreeAsync(again, nullptr));
            EXPECT_EQ(cuMemFree(again), CUDA_ERROR_INVALID_VALUE);
            ASSERT_CU(cuCtxSynchronize());
            CUdeviceptr address = 77;
            EXPECT_EQ(cuMemAllocFromPoolAsync(&address, kMiB, pool, nullptr),
                      CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(address, 0u);
            EXPECT_CU(cuMemPoolDestroy(pool));
            replies.send('k');
        });
        ASSERT_CU(cuInit(0));
        create_context();
        const CUmemoryPool pool = new_pool(kFile);
        const CUdeviceptr address = allocate_from(pool, 3 * kMiB);
        ASSERT_CU(cuMemcpyHtoD(address, "p", 1));
        Shared shared{};
        shared.file = export_pool(pool);
        ASSERT_CU(cuMemPoolExportPointer(&shared.pointer, address));
        to_importer.send(shared);
        EXPECT_EQ(replies.receive<char>(), 'k');
        EXPECT_EQ(peek(address), 'i');
        EXPECT_EQ(vramscope::test::wait_for(importer), 0);
    });
}

TEST(PoolSharing, NeedsAPoolMadeForIt)
{
    with_context([] {
        const CUmemoryPool closed = new_pool(CU_MEM_HANDLE_TYPE_NONE);
        const CUmemoryPool open = new_pool(kFile);
        int file = 77;
        EXPECT_EQ(cuMemPoolExportToShareableHandle(&file, closed, kFile, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemPoolExportToShareableHandle(&file, open, kFile, 1),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemPoolExportToShareableHandle(nullptr, open, kFile, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(file, 77);
        CUmemPoolPtrExportData data{};
        EXPECT_EQ(cuMemPoolExportPointer(&data, allocate_from(closed, kMiB)),
                  CUDA_ERROR_INVALID_VALUE);
        const CUdeviceptr address = allocate_from(open, kMiB);
        EXPECT_EQ(cuMemPoolExportPointer(nullptr, address), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemPoolExportPointer(&data, address));
        CUdeviceptr imported = 77;
        EXPECT_EQ(cuMemPoolImportPointer(&imported, open, &data), CUDA_ERROR_INVALID_VALUE);
        CUmemoryPool pool = nullptr;
        EXPECT_EQ(cuMemPoolImportFromShareableHandle(&pool, as_handle(0x7fffff), kFile, 0),
                  CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(
            cuMemPoolImportFromShareableHandle(&pool, as_handle(export_pool(open)), kFile, 0));
        CUmemPoolPtrExportData garbage{};
        EXPECT_EQ(cuMemPoolImportPointer(&imported, pool, &garbage), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemPoolImportPointer(&imported, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(imported, 77u);
    });
}

TEST(PhysicalSharing, GivesTheSameMemoryInTheSameProcess)
{
    with_context([] {
        const size_t all = free_bytes();
        const auto handle = create_physical(2 * kMiB, kFile);
        int file = -1;
        ASSERT_CU(cuMemExportToShareableHandle(&file, handle, kFile, 0));
        CUmemGenericAllocationHandle again = 0;
        ASSERT_CU(cuMemImportFromShareableHandle(&again, as_handle(file), kFile));
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        const CUdeviceptr first = map_physical(handle, 2 * kMiB);
        const CUdeviceptr second = map_physical(again, 2 * kMiB);
        ASSERT_CU(cuMemcpyHtoD(first, "s", 1));
        EXPECT_EQ(peek(second), 's');
        ASSERT_CU(cuMemRelease(handle));
        EXPECT_EQ(cuMemExportToShareableHandle(&file, handle, kFile, 0), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemRelease(again));
        ASSERT_CU(cuMemUnmap(first, 2 * kMiB));
        ASSERT_CU(cuMemUnmap(second, 2 * kMiB));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(PhysicalSharing, TakesDescriptorsOfPhysicalMemoryOnly)
{
    with_context([] {
        CUmemGenericAllocationHandle handle = 77;
        const int pool = export_pool(new_pool(kFile));
        EXPECT_EQ(cuMemImportFromShareableHandle(&handle, as_handle(pool), kFile),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemImportFromShareableHandle(&handle, as_handle(-1), kFile),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(handle, 77u);
        int file = 77;
        EXPECT_EQ(cuMemExportToShareableHandle(&file, create_physical(2 * kMiB), kFile, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemExportToShareableHandle(&file, 0x1234, kFile, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(file, 77);
    });
}

TEST(RangeHandle, IsADescriptorForWholePagesOfMemory)
{
    constexpr auto kDmaBuf = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    with_context([] {
        const CUdeviceptr plain = allocate(4 * kMiB);
        const auto physical = create_physical(2 * kMiB);
        CUdeviceptr mapped = 0;
        ASSERT_CU(cuMemAddressReserve(&mapped, 4 * kMiB, 0, 0, 0));
        ASSERT_CU(cuMemMap(mapped, 2 * kMiB, 0, physical, 0));
        int file = -1;
        ASSERT_CU(cuMemGetHandleForAddressRange(&file, plain + 4096, kMiB, kDmaBuf, 0));
        EXPECT_EQ(::close(file), 0);
        ASSERT_CU(cuMemGetHandleForAddressRange(&file, mapped, 2 * kMiB, kDmaBuf, 0));
        EXPECT_EQ(::close(file), 0);
        file = 77;
        EXPECT_EQ(cuMemGetHandleForAddressRange(&file, mapped, 4 * kMiB, kDmaBuf, 0),
                  CUDA_ERROR_INVALID_VALUE); // half of it is not mapped
        EXPECT_EQ(cuMemGetHandleForAddressRange(&file, plain + 1, kMiB, kDmaBuf, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemGetHandleForAddressRange(&file, plain, 5 * kMiB, kDmaBuf, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemGetHandleForAddressRange(&file, 0x1000, kMiB, kDmaBuf, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemGetHandleForAddressRange(nullptr, plain, kMiB, kDmaBuf, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(file, 77);
    });
}
