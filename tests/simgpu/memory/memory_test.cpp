// tests/simgpu/memory/memory_test.cpp — allocation, its errors, and what memory info tells.
#include <chrono>
#include <dlfcn.h>
#include <set>
#include <sys/mman.h>
#include <vector>

#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

TEST(Memory, KeepsWhatWasCopiedIntoIt)
{
    with_context([] {
        const CUdeviceptr first = allocate(100);
        const CUdeviceptr second = allocate(100);
        ASSERT_CU(cuMemcpyHtoD(first, "hello", 6));
        ASSERT_CU(cuMemcpyDtoD(second, first, 6));
        char back[6] = "";
        ASSERT_CU(cuMemcpyDtoH(back, second, 6));
        EXPECT_STREQ(back, "hello");
    });
}

TEST(Memory, IsAlignedTo512AndApart)
{
    with_context([] {
        std::set<CUdeviceptr> seen;
        for (int count = 0; count < 1000; ++count) {
            const CUdeviceptr address = allocate(513);
            EXPECT_EQ(address % 512, 0u);
            EXPECT_TRUE(seen.insert(address).second);
        }
        for (auto next = seen.begin(), before = next++; next != seen.end(); before = next++)
            EXPECT_GE(*next - *before, 1024u);
    });
}

TEST(Memory, IsReusedAtOnce)
{
    with_context([] {
        for (const size_t bytes : {512 * size_t{1}, 3 * kMiB}) {
            const CUdeviceptr first = allocate(bytes);
            ASSERT_CU(cuMemFree(first));
            EXPECT_EQ(allocate(bytes), first);
        }
    });
}

TEST(Memory, RejectsWhatADriverRejects)
{
    with_context([] {
        EXPECT_EQ(cuMemAlloc(nullptr, 8), CUDA_ERROR_INVALID_VALUE);
        for (const size_t bytes : {size_t{0}, 257 * kMiB, SIZE_MAX}) {
            CUdeviceptr null = 77;
            EXPECT_EQ(cuMemAlloc(&null, bytes),
                      bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(null, 0u);
        }
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        CUmemGenericAllocationHandle untouched = 77;
        EXPECT_EQ(cuMemCreate(&untouched, 258 * kMiB, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(untouched, 77u);
        const CUdeviceptr address = allocate(4096);
        EXPECT_EQ(cuMemFree(address + 512), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE);
        EXPECT_CU(cuMemFree(0));
        EXPECT_CU(cuMemFree(address));
        EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, NeedsALivingContext)
{
    before_init({}, [] {
        CUdeviceptr address = 77;
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_NOT_INITIALIZED);
        ASSERT_CU(cuInit(0));
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(address, 0u);
        EXPECT_CU(cuMemFree(0));
        EXPECT_CU(cuMemFreeHost(nullptr));
        EXPECT_EQ(cuMemFree(0x5000), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemFreeAsync(0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
        address = 77;
        CUcontext context = nullptr;
        ASSERT_CU(cuDevicePrimaryCtxRetain(&context, 0));
        ASSERT_CU(cuCtxSetCurrent(context));
        ASSERT_CU(cuDevicePrimaryCtxRelease(0));
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_EQ(address, 0u);
        EXPECT_EQ(cuMemFree(0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    });
}

TEST(Memory, OfNoBytesIsANullPointerWhereItIsNoError)
{
    with_context([] {
        void* host = &host;
        CUdeviceptr device = 77;
        EXPECT_CU(cuMemHostAlloc(&host, 0, 0));
        EXPECT_EQ(host, nullptr);
        EXPECT_CU(cuMemAllocAsync(&device, 0, nullptr));
        EXPECT_EQ(device, 0u);
        EXPECT_EQ(cuMemAllocManaged(&device, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, IsFreedWithoutAContextToo)
{
    with_context([] {
        const CUdeviceptr address = allocate(8);
        ASSERT_CU(cuCtxSetCurrent(nullptr));
        EXPECT_CU(cuMemFree(address));
        EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, InfoCountsBlocksOfTwoMiB)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUdeviceptr small = allocate(1);
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        const CUdeviceptr same_block = allocate(1);
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        const CUdeviceptr large = allocate(3 * kMiB);
        EXPECT_EQ(free_bytes(), all - 6 * kMiB);
        for (const CUdeviceptr address : {small, same_block, large})
            ASSERT_CU(cuMemFree(address));
        EXPECT_EQ(free_bytes(), all);
        EXPECT_CU(cuMemGetInfo(nullptr, nullptr));
    });
}

TEST(Memory, RunsOutAndRecovers)
{
    with_context([] {
        std::vector<CUdeviceptr> held;
        CUdeviceptr address = 0;
        while (cuMemAlloc(&address, 16 * kMiB) == CUDA_SUCCESS)
            held.push_back(address);
        EXPECT_EQ(held.size(), 16u);
        ASSERT_CU(cuMemFree(held.back()));
        EXPECT_CU(cuMemAlloc(&address, 16 * kMiB));
    });
}

TEST(Memory, OfLargeFreedBlocksIsZeroAgain)
{
    with_context([] {
        const CUdeviceptr address = allocate(4 * kMiB);
        ASSERT_CU(cuMemsetD8(address, 0xab, 4 * kMiB));
        ASSERT_CU(cuMemFree(address));
        ASSERT_EQ(allocate(4 * kMiB), address);
        EXPECT_EQ(peek(address), 0);
    });
}

TEST(Memory, FirstFormsAnswerWith32BitAddresses)
{
    with_context([] {
        auto* const alloc_v1 = reinterpret_cast<CUresult (*)(unsigned*, unsigned)>(
            ::dlsym(RTLD_DEFAULT, "cuMemAlloc"));
        auto* const free_v1 =
            reinterpret_cast<CUresult (*)(unsigned)>(::dlsym(RTLD_DEFAULT, "cuMemFree"));
        struct {
            unsigned address = 0;
            unsigned guard = 0xdeadbeef;
        } out;
        ASSERT_CU(alloc_v1(&out.address, 4096));
        EXPECT_NE(out.address, 0u);
        EXPECT_EQ(out.guard, 0xdeadbeefu);
        ASSERT_CU(cuMemcpyHtoD(out.address, "x", 1));
        EXPECT_CU(free_v1(out.address));
        EXPECT_EQ(free_v1(out.address), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, PitchIsAMultipleOf512)
{
    with_context([] {
        CUdeviceptr address = 0;
        size_t pitch = 0;
        ASSERT_CU(cuMemAllocPitch(&address, &pitch, 1000, 10, 4));
        EXPECT_EQ(pitch, 1024u);
        size_t bytes = 0;
        ASSERT_CU(cuMemGetAddressRange(nullptr, &bytes, address + 5));
        EXPECT_EQ(bytes, 10240u);
        EXPECT_CU(cuMemsetD2D8(address, pitch, 7, 1000, 10));
        EXPECT_CU(cuMemFree(address));
        EXPECT_EQ(cuMemAllocPitch(&address, &pitch, 1000, 10, 3), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, ManagedMayExceedTheDevice)
{
    with_context([] {
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAllocManaged(&address, 1024 * kMiB, CU_MEM_ATTACH_GLOBAL));
        *reinterpret_cast<int*>(address) = 5;
        unsigned managed = 0;
        EXPECT_CU(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
        EXPECT_EQ(managed & 0xff, 1u);
        EXPECT_CU(cuMemFree(address));
        EXPECT_EQ(cuMemAllocManaged(&address, 4096, 77), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, PinnedIsFreedByItsOwnCallOnly)
{
    with_context([] {
        void* pinned = nullptr;
        ASSERT_CU(cuMemHostAlloc(&pinned, 10000, CU_MEMHOSTALLOC_PORTABLE));
        EXPECT_EQ(cuMemFree(reinterpret_cast<CUdeviceptr>(pinned)), CUDA_ERROR_INVALID_VALUE);
        CUdeviceptr alias = 0;
        EXPECT_CU(cuMemHostGetDevicePointer(&alias, pinned, 0));
        EXPECT_EQ(alias, reinterpret_cast<CUdeviceptr>(pinned));
        EXPECT_CU(cuMemFreeHost(pinned));
        EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, IsRegisteredOnce)
{
    with_context([] {
        static char pages[16384];
        EXPECT_EQ(cuMemHostUnregister(pages), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        ASSERT_CU(cuMemHostRegister(pages, sizeof pages, 0));
        EXPECT_EQ(cuMemHostRegister(pages + 100, 50, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        EXPECT_CU(cuMemHostUnregister(pages));
    });
}

TEST(Memory, AddressRangeIsTheUsersBlock)
{
    with_context([] {
        const CUdeviceptr address = allocate(1000);
        CUdeviceptr base = 0;
        size_t bytes = 0;
        ASSERT_CU(cuMemGetAddressRange(&base, &bytes, address + 999));
        EXPECT_EQ(base, address);
        EXPECT_EQ(bytes, 1000u);
        base = 77;
        EXPECT_EQ(cuMemGetAddressRange(&base, &bytes, address + 1000), CUDA_ERROR_NOT_FOUND);
        EXPECT_EQ(base, 0u);
    });
}

TEST(Memory, CopiesOutsideAnAllocationAreRefused)
{
    with_context([] {
        const CUdeviceptr address = allocate(1000);
        char buffer[2000] = "";
        EXPECT_EQ(cuMemcpyHtoD(address, buffer, 1001), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemcpyDtoH(buffer, address + 600, 500), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemFree(address));
        EXPECT_EQ(cuMemcpyHtoD(address, buffer, 10), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, CopiesRowsBetweenPitches)
{
    with_context([] {
        CUdeviceptr address = 0;
        size_t pitch = 0;
        ASSERT_CU(cuMemAllocPitch(&address, &pitch, 3, 4, 4));
        const char rows[] = "abcdefghijkl";
        CUDA_MEMCPY2D shape{};
        shape.srcMemoryType = CU_MEMORYTYPE_HOST;
        shape.srcHost = rows;
        shape.srcPitch = 3;
        shape.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        shape.dstDevice = address;
        shape.dstPitch = pitch;
        shape.WidthInBytes = 3;
        shape.Height = 4;
        ASSERT_CU(cuMemcpy2D(&shape));
        EXPECT_EQ(peek(address + pitch), 'd');
        EXPECT_EQ(peek(address + 3 * pitch + 2), 'l');
    });
}

TEST(Memory, PointerAttributesLeaveOutputsAloneOnError)
{
    with_context([] {
        unsigned long long id = 77;
        int on_host = 0;
        EXPECT_EQ(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                        reinterpret_cast<CUdeviceptr>(&on_host)),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(id, 77u);
        const CUdeviceptr address = allocate(1000);
        CUdeviceptr start = 0;
        size_t bytes = 0;
        int device = -1;
        CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
        void* answers[] = {&start, &bytes, &device};
        ASSERT_CU(cuPointerGetAttributes(3, wanted, answers, address + 10));
        EXPECT_EQ(start, address);
        EXPECT_EQ(bytes, 1000u);
        EXPECT_EQ(device, 0);
        EXPECT_CU(
            cuPointerGetAttributes(3, wanted, answers, reinterpret_cast<CUdeviceptr>(&on_host)));
        EXPECT_EQ(start, 0u);
    });
}

TEST(Copy, RefusesShapesThatWrapRound)
{
    with_context([] {
        const CUdeviceptr address = allocate(4096);
        CUDA_MEMCPY2D copy{};
        copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = address;
        copy.srcPitch = 16;
        copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = address + 2048;
        copy.dstPitch = 16;
        copy.WidthInBytes = 10;
        copy.Height = (size_t{1} << 60) + 1; // rows x pitch is 0 again
        EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
        copy.Height = 2;
        copy.srcPitch = 8; // the rows would overlap
        EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemsetD2D8(address, 16, 1, 10, (size_t{1} << 60) + 1),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemcpyDtoD(address, address, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Copy, RefusesHostMemoryThatIsNotThere)
{
    with_context([] {
        const CUdeviceptr address = allocate(1 * kMiB);
        void* const gone =
            ::mmap(nullptr, 1 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_CU(cuMemcpyHtoD(address, gone, 1 * kMiB));
        ::munmap(gone, 1 * kMiB);
        EXPECT_EQ(cuMemcpyHtoD(address, gone, 1 * kMiB), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemcpyDtoH(gone, address, 1 * kMiB), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemcpyDtoH(reinterpret_cast<void*>(8), address, 1), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemHostRegister(gone, 1 * kMiB, 0), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Memory, CostsTheTimeThatIsSet)
{
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds kCost{500};
    with_context({"256MiB", kAnHour, "500"}, [] {
        auto begin = Clock::now();
        const CUdeviceptr address = allocate(64);
        EXPECT_GE(Clock::now() - begin, kCost);
        begin = Clock::now();
        EXPECT_CU(cuMemFree(address));
        EXPECT_GE(Clock::now() - begin, kCost);
    });
}
