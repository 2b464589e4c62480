// tests/simgpu/memory/vmm_test.cpp — virtual memory management.
#include "tests/simgpu/physical.hpp"
#include "tests/simgpu/pipe.hpp"

using namespace simgpu::test;

TEST(Vmm, MemoryReturnsAfterUnmapAndRelease)
{
    with_context([] {
        const size_t all = free_bytes();
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAddressReserve(&address, 8 * kMiB, 0, 0, 0));
        EXPECT_EQ(free_bytes(), all);
        const auto handle = create_physical(4 * kMiB);
        EXPECT_EQ(free_bytes(), all - 4 * kMiB);
        ASSERT_CU(cuMemMap(address, 4 * kMiB, 0, handle, 0));
        ASSERT_CU(cuMemRelease(handle));
        EXPECT_EQ(free_bytes(), all - 4 * kMiB);
        EXPECT_EQ(cuMemAddressFree(address, 8 * kMiB), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemUnmap(address, 4 * kMiB));
        EXPECT_EQ(free_bytes(), all);
        EXPECT_CU(cuMemAddressFree(address, 8 * kMiB));
        EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Vmm, IsUsableOnceAccessIsGiven)
{
    with_context([] {
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAddressReserve(&address, 4 * kMiB, 0, 0, 0));
        EXPECT_EQ(cuMemcpyHtoD(address, "x", 2), CUDA_ERROR_INVALID_VALUE);
        const auto first = create_physical(2 * kMiB);
        const auto second = create_physical(2 * kMiB);
        ASSERT_CU(cuMemMap(address, 2 * kMiB, 0, first, 0));
        EXPECT_EQ(cuMemMap(address, 2 * kMiB, 0, second, 0), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemMap(address + 2 * kMiB, 2 * kMiB, 0, second, 0));
        EXPECT_EQ(cuMemcpyHtoD(address, "x", 2), CUDA_ERROR_INVALID_VALUE);
        give_access(address, 4 * kMiB);
        EXPECT_CU(cuMemcpyHtoD(address + 2 * kMiB - 2, "abc", 4)); // it goes across the seam
        char back[4] = "";
        ASSERT_CU(cuMemcpyDtoH(back, address + 2 * kMiB - 2, 4));
        EXPECT_STREQ(back, "abc");
        ASSERT_CU(cuMemUnmap(address, 4 * kMiB));
        EXPECT_EQ(cuMemcpyHtoD(address, "x", 2), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Vmm, TheSameMemoryShowsAtTwoAddresses)
{
    with_context([] {
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAddressReserve(&address, 4 * kMiB, 0, 0, 0));
        const auto handle = create_physical(2 * kMiB);
        ASSERT_CU(cuMemMap(address, 2 * kMiB, 0, handle, 0));
        ASSERT_CU(cuMemMap(address + 2 * kMiB, 2 * kMiB, 0, handle, 0));
        give_access(address, 4 * kMiB);
        ASSERT_CU(cuMemcpyHtoD(address, "q", 1));
        EXPECT_EQ(peek(address + 2 * kMiB), 'q');
    });
}

TEST(Vmm, RetainAddsAReference)
{
    with_context([] {
        const size_t all = free_bytes();
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAddressReserve(&address, 2 * kMiB, 0, 0, 0));
        const auto handle = create_physical(2 * kMiB);
        ASSERT_CU(cuMemMap(address, 2 * kMiB, 0, handle, 0));
        CUmemGenericAllocationHandle again = 0;
        ASSERT_CU(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address + 100)));
        EXPECT_EQ(again, handle);
        ASSERT_CU(cuMemRelease(handle));
        ASSERT_CU(cuMemUnmap(address, 2 * kMiB));
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        ASSERT_CU(cuMemRelease(again));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Vmm, RefusesOddSizes)
{
    with_context([] {
        size_t granularity = 0;
        const auto wanted = physical_properties();
        ASSERT_CU(
            cuMemGetAllocationGranularity(&granularity, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        EXPECT_EQ(granularity, 2 * kMiB);
        CUmemGenericAllocationHandle handle = 77;
        EXPECT_EQ(cuMemCreate(&handle, kMiB, &wanted, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemCreate(&handle, 512 * kMiB, &wanted, 0), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(handle, 77u);
        CUdeviceptr address = 77;
        EXPECT_EQ(cuMemAddressReserve(&address, 1000, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(address, 77u);
        EXPECT_EQ(cuMemUnmap(0x200000, 2 * kMiB), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Vmm, CrossesProcessesByFileDescriptor)
{
    constexpr auto kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    const Pipe to_importer;
    before_init({}, [&] {
        // The exporter forks the importer before it calls cuInit itself.
        const pid_t exporter = ::getpid();
        const pid_t importer = vramscope::test::start_child([&] {
            const int file = take_over(exporter, to_importer.receive<int>());
            ASSERT_CU(cuInit(0));
            create_context();
            const size_t all = free_bytes();
            CUmemGenericAllocationHandle handle = 0;
            ASSERT_CU(cuMemImportFromShareableHandle(&handle, as_handle(file), kFile));
            EXPECT_EQ(free_bytes(), all); // the bytes are the exporter's
            EXPECT_EQ(peek(map_physical(handle, 2 * kMiB)), 'v');
        });
        ASSERT_CU(cuInit(0));
        create_context();
        const auto handle = create_physical(2 * kMiB, kFile);
        ASSERT_CU(cuMemcpyHtoD(map_physical(handle, 2 * kMiB), "v", 1));
        int shared = -1;
        ASSERT_CU(cuMemExportToShareableHandle(&shared, handle, kFile, 0));
        to_importer.send(shared);
        EXPECT_EQ(vramscope::test::wait_for(importer), 0);
    });
}

TEST(Vmm, RefusesAddressSpaceThatNoProcessHas)
{
    with_context([] {
        CUdeviceptr address = 77;
        constexpr size_t kHuge = SIZE_MAX / (2 * kMiB) * (2 * kMiB);
        EXPECT_EQ(cuMemAddressReserve(&address, kHuge, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(cuMemAddressReserve(&address, kHuge, size_t{1} << 40, 0, 0),
                  CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(address, 77u);
    });
}
