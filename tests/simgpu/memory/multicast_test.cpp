// tests/simgpu/memory/multicast_test.cpp — one address for memory of several devices.
#include "tests/simgpu/physical.hpp"
#include "tests/simgpu/pipe.hpp"

using namespace simgpu::test;

#if CUDA_VERSION >= 12010
namespace {

const Setup kTwoDevices{"2x64MiB", kAnHour};

CUmulticastObjectProp team_of(unsigned devices, unsigned long long handle_types = 0)
{
    CUmulticastObjectProp made{};
    made.numDevices = devices;
    made.size = 4 * kMiB;
    made.handleTypes = handle_types;
    return made;
}

CUmemGenericAllocationHandle create_multicast(unsigned devices, unsigned long long types = 0)
{
    CUmemGenericAllocationHandle handle = 0;
    const auto wanted = team_of(devices, types);
    EXPECT_CU(cuMulticastCreate(&handle, &wanted));
    return handle;
}

CUmemGenericAllocationHandle create_on(int device, size_t bytes)
{
    auto wanted = physical_properties();
    wanted.location.id = device;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CU(cuMemCreate(&handle, bytes, &wanted, 0));
    return handle;
}

} // namespace

TEST(Multicast, KeepsWhatIsBoundAndIsMappedLikeMemory)
{
    with_context(kTwoDevices, [] {
        const size_t all = free_bytes();
        const auto object = create_multicast(2);
        ASSERT_CU(cuMulticastAddDevice(object, 0));
        ASSERT_CU(cuMulticastAddDevice(object, 1));
        const auto first = create_on(0, 4 * kMiB);
        const auto second = create_on(1, 4 * kMiB);
        ASSERT_CU(cuMulticastBindMem(object, 0, first, 0, 4 * kMiB, 0));
        ASSERT_CU(cuMulticastBindMem(object, 0, second, 0, 4 * kMiB, 0));
        EXPECT_EQ(cuMulticastBindMem(object, 2 * kMiB, first, 0, 2 * kMiB, 0),
                  CUDA_ERROR_INVALID_VALUE); // this range is taken
        const CUdeviceptr address = map_physical(object, 4 * kMiB);
        EXPECT_CU(cuMemcpyHtoD(address, "m", 1));
        ASSERT_CU(cuMemRelease(first));
        EXPECT_EQ(free_bytes(), all - 4 * kMiB);
        ASSERT_CU(cuMulticastUnbind(object, 0, 0, 4 * kMiB));
        EXPECT_EQ(free_bytes(), all);
        EXPECT_EQ(cuMulticastUnbind(object, 0, 0, 4 * kMiB), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemRelease(object)); // it is still mapped
        EXPECT_CU(cuMemcpyHtoD(address, "x", 1));
        EXPECT_EQ(cuMulticastAddDevice(object, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_CU(cuMemUnmap(address, 4 * kMiB));
    });
}

TEST(Multicast, LetsGoOfWhatIsBoundAtItsEnd)
{
    with_context([] {
        const size_t all = free_bytes();
        const auto object = create_multicast(1);
        ASSERT_CU(cuMulticastAddDevice(object, 0));
        const auto memory = create_physical(2 * kMiB);
        ASSERT_CU(cuMulticastBindMem(object, 2 * kMiB, memory, 0, 2 * kMiB, 0));
        ASSERT_CU(cuMemRelease(memory));
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        ASSERT_CU(cuMemRelease(object));
        EXPECT_EQ(free_bytes(), all);
        EXPECT_EQ(cuMemRelease(object), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Multicast, BindsByAddress)
{
    with_context([] {
        const size_t all = free_bytes();
        const auto object = create_multicast(1);
        ASSERT_CU(cuMulticastAddDevice(object, 0));
        const auto memory = create_physical(4 * kMiB);
        const CUdeviceptr mapped = map_physical(memory, 4 * kMiB);
        ASSERT_CU(cuMulticastBindAddr(object, 0, mapped + 2 * kMiB, 2 * kMiB, 0));
        CUdeviceptr pooled = 0;
        ASSERT_CU(cuMemAllocAsync(&pooled, 2 * kMiB, nullptr));
        EXPECT_CU(cuMulticastBindAddr(object, 2 * kMiB, pooled, 2 * kMiB, 0));
        EXPECT_EQ(cuMulticastBindAddr(object, 0, allocate(4 * kMiB), 2 * kMiB, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastBindAddr(object, 0, 0x200000, 2 * kMiB, 0), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemUnmap(mapped, 4 * kMiB));
        ASSERT_CU(cuMemRelease(memory));
        ASSERT_CU(cuMulticastUnbind(object, 0, 0, 2 * kMiB));
        ASSERT_CU(cuMulticastUnbind(object, 0, 2 * kMiB, 2 * kMiB));
        EXPECT_EQ(free_bytes(), all - 4 * kMiB - 32 * kMiB); // the plain block, the pool's segment
    });
}

TEST(Multicast, WantsItsWholeTeamFirst)
{
    with_context(kTwoDevices, [] {
        const auto object = create_multicast(2);
        const auto memory = create_on(0, 2 * kMiB);
        ASSERT_CU(cuMulticastAddDevice(object, 0));
        EXPECT_EQ(cuMulticastBindMem(object, 0, memory, 0, 2 * kMiB, 0), CUDA_ERROR_ILLEGAL_STATE);
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAddressReserve(&address, 4 * kMiB, 0, 0, 0));
        EXPECT_EQ(cuMemMap(address, 4 * kMiB, 0, object, 0), CUDA_ERROR_ILLEGAL_STATE);
        EXPECT_EQ(cuMulticastAddDevice(object, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastAddDevice(object, 7), CUDA_ERROR_INVALID_DEVICE);
        ASSERT_CU(cuMulticastAddDevice(object, 1));
        EXPECT_CU(cuMulticastBindMem(object, 0, memory, 0, 2 * kMiB, 0));
    });
}

TEST(Multicast, RefusesWhatDoesNotFit)
{
    with_context([] {
        CUmemGenericAllocationHandle handle = 77;
        size_t granularity = 0;
        const auto good = team_of(1);
        ASSERT_CU(cuMulticastGetGranularity(&granularity, &good, CU_MULTICAST_GRANULARITY_MINIMUM));
        EXPECT_EQ(granularity, 2 * kMiB);
        EXPECT_EQ(cuMulticastGetGranularity(nullptr, &good, CU_MULTICAST_GRANULARITY_MINIMUM),
                  CUDA_ERROR_INVALID_VALUE);
        const auto none = team_of(0);
        const auto too_many = team_of(2);
        auto odd = team_of(1);
        odd.size = kMiB;
        for (const CUmulticastObjectProp* bad :
             std::initializer_list<const CUmulticastObjectProp*>{&none, &too_many, &odd, nullptr})
            EXPECT_EQ(cuMulticastCreate(&handle, bad), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastCreate(nullptr, &good), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(handle, 77u);
        const auto object = create_multicast(1);
        const auto memory = create_physical(2 * kMiB);
        ASSERT_CU(cuMulticastAddDevice(object, 0));
        EXPECT_EQ(cuMulticastBindMem(memory, 0, memory, 0, 2 * kMiB, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastBindMem(object, 0, object, 0, 2 * kMiB, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastBindMem(object, 0, 0x1234, 0, 2 * kMiB, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastBindMem(object, 4 * kMiB, memory, 0, 2 * kMiB, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastBindMem(object, 0, memory, 0, 4 * kMiB, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMulticastBindMem(object, 0, memory, 0, 2 * kMiB, 1), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Multicast, IsSharedByDescriptor)
{
    constexpr auto kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    with_context([] {
        const auto object = create_multicast(2, kFile);
        int file = -1;
        ASSERT_CU(cuMemExportToShareableHandle(&file, object, kFile, 0));
        CUmemGenericAllocationHandle imported = 0;
        ASSERT_CU(cuMemImportFromShareableHandle(&imported, as_handle(file), kFile));
        ASSERT_CU(cuMulticastAddDevice(imported, 0)); // the other one joins elsewhere
        const auto closed = create_physical(2 * kMiB);
        const auto open = create_physical(2 * kMiB, kFile);
        EXPECT_EQ(cuMulticastBindMem(imported, 0, closed, 0, 2 * kMiB, 0),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_CU(cuMulticastBindMem(imported, 0, open, 0, 2 * kMiB, 0));
        EXPECT_CU(cuMemRelease(imported));
        EXPECT_CU(cuMemRelease(object));
        EXPECT_EQ(cuMemExportToShareableHandle(&file, create_multicast(1), kFile, 0),
                  CUDA_ERROR_INVALID_VALUE);
    });
}
#else
TEST(Multicast, IsInNewerHeaders)
{
    GTEST_SKIP() << "the headers of CUDA 12.1 are not here";
}
#endif
