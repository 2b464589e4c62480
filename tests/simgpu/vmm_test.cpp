// tests/simgpu/vmm_test.cpp — virtual memory management.
#include "tests/simgpu/driver.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace simgpu::test;

namespace {

CUmemAllocationProp properties(CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_NONE)
{
    CUmemAllocationProp made{};
    made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    made.requestedHandleTypes = type;
    return made;
}

CUmemGenericAllocationHandle create(size_t bytes,
                                    CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_NONE)
{
    CUmemGenericAllocationHandle handle = 0;
    const auto wanted = properties(type);
    EXPECT_CU(cuMemCreate(&handle, bytes, &wanted, 0));
    return handle;
}

void give_access(CUdeviceptr address, size_t bytes)
{
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT_CU(cuMemSetAccess(address, bytes, &access, 1));
}

} // namespace

TEST(Vmm, MemoryReturnsAfterUnmapAndRelease)
{
    with_context([] {
        const size_t all = free_bytes();
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAddressReserve(&address, 8 * kMiB, 0, 0, 0));
        EXPECT_EQ(free_bytes(), all);
        const auto handle = create(4 * kMiB);
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
        const auto first = create(2 * kMiB);
        const auto second = create(2 * kMiB);
        ASSERT_CU(cuMemMap(address, 2 * kMiB, 0, first, 0));
        EXPECT_EQ(cuMemMap(address, 2 * kMiB, 0, second, 0), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemMap(address + 2 * kMiB, 2 * kMiB, 0, second, 0));
        EXPECT_EQ(cuMemcpyHtoD(address, "x", 2), CUDA_ERROR_INVALID_VALUE);
        give_access(address, 4 * kMiB);
        EXPECT_CU(cuMemcpyHtoD(address + 2 * kMiB - 2, "abc", 4)); // over the seam
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
        const auto handle = create(2 * kMiB);
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
        const auto handle = create(2 * kMiB);
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
        const auto wanted = properties();
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
    int to_importer[2];
    ASSERT_EQ(::pipe(to_importer), 0);
    int shared = -1; // inherited: a plain fork hands a descriptor over like SCM_RIGHTS does
    before_init({}, [&] {
        // The exporter forks the importer before its own cuInit; the file is opened through /proc.
        const pid_t exporter = ::getpid();
        const pid_t importer = vramscope::test::start_child([&] {
            ASSERT_EQ(::read(to_importer[0], &shared, sizeof shared),
                      static_cast<ssize_t>(sizeof shared));
            const std::string path =
                "/proc/" + std::to_string(exporter) + "/fd/" + std::to_string(shared);
            const int file = ::open(path.c_str(), O_RDWR);
            ASSERT_GE(file, 0);
            ASSERT_CU(cuInit(0));
            create_context();
            const size_t all = free_bytes();
            CUmemGenericAllocationHandle handle = 0;
            ASSERT_CU(cuMemImportFromShareableHandle(
                &handle, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
            EXPECT_EQ(free_bytes(), all); // the exporter's bytes
            CUdeviceptr address = 0;
            ASSERT_CU(cuMemAddressReserve(&address, 2 * kMiB, 0, 0, 0));
            ASSERT_CU(cuMemMap(address, 2 * kMiB, 0, handle, 0));
            give_access(address, 2 * kMiB);
            EXPECT_EQ(peek(address), 'v');
        });
        ASSERT_CU(cuInit(0));
        create_context();
        const auto handle = create(2 * kMiB, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAddressReserve(&address, 2 * kMiB, 0, 0, 0));
        ASSERT_CU(cuMemMap(address, 2 * kMiB, 0, handle, 0));
        give_access(address, 2 * kMiB);
        ASSERT_CU(cuMemcpyHtoD(address, "v", 1));
        ASSERT_CU(cuMemExportToShareableHandle(&shared, handle,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        ASSERT_EQ(::write(to_importer[1], &shared, sizeof shared),
                  static_cast<ssize_t>(sizeof shared));
        EXPECT_EQ(vramscope::test::wait_for(importer), 0);
    });
}
