// tests/simgpu/memory/pool_place_test.cpp — pools of device, host and managed memory.
#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

CUmemLocation on_device(int device)
{
    return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUmemoryPool new_pool_at(CUmemLocation location,
                         CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED)
{
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location = location;
    CUmemoryPool pool = nullptr;
    EXPECT_CU(cuMemPoolCreate(&pool, &properties));
    return pool;
}

} // namespace

TEST(PoolPlace, CurrentPoolIsOfItsDevice)
{
    before_init({"2x64MiB", kAnHour}, [] {
        ASSERT_CU(cuInit(0));
        const CUmemoryPool second = new_pool_at(on_device(1));
        EXPECT_EQ(cuDeviceSetMemPool(0, second), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuDeviceSetMemPool(7, second), CUDA_ERROR_INVALID_DEVICE);
        EXPECT_CU(cuDeviceSetMemPool(1, second));
        CUmemoryPool current = nullptr;
        ASSERT_CU(cuDeviceGetMemPool(&current, 1));
        EXPECT_EQ(current, second);
        EXPECT_EQ(cuDeviceGetMemPool(nullptr, 1), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuDeviceGetMemPool(&current, 0));
        EXPECT_NE(current, second);
        EXPECT_EQ(cuDeviceSetMemPool(1, reinterpret_cast<CUmemoryPool>(0x1234)),
                  CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(PoolPlace, HugeSizesAreOutOfMemory)
{
    with_context([] {
        CUdeviceptr address = 77;
        for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 511, SIZE_MAX / 2})
            EXPECT_EQ(cuMemAllocAsync(&address, bytes, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(address, 0u);
    });
}

#if CUDA_VERSION >= 13000
namespace {

constexpr auto kPinned = CU_MEM_ALLOCATION_TYPE_PINNED;
constexpr auto kManaged = CU_MEM_ALLOCATION_TYPE_MANAGED;

template <class T>
T attribute_of(CUdeviceptr address, CUpointer_attribute attribute)
{
    T value{};
    EXPECT_CU(cuPointerGetAttribute(&value, attribute, address));
    return value;
}

CUdeviceptr allocate_from(CUmemoryPool pool, size_t bytes)
{
    CUdeviceptr address = 0;
    EXPECT_CU(cuMemAllocFromPoolAsync(&address, bytes, pool, nullptr));
    return address;
}

} // namespace

TEST(PoolPlace, EachHasADefaultAndACurrentPool)
{
    with_context([] {
        const struct {
            CUmemLocation location;
            CUmemAllocationType type;
        } places[] = {
            {on_device(0), kPinned},
            {{CU_MEM_LOCATION_TYPE_HOST, 5}, kPinned}, // its number is ignored
            {{CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, kPinned},
            {on_device(0), kManaged},
            {{CU_MEM_LOCATION_TYPE_HOST, 0}, kManaged},
            {{CU_MEM_LOCATION_TYPE_NONE, 0}, kManaged},
        };
        CUmemoryPool before = nullptr;
        for (auto [location, type] : places) {
            CUmemoryPool standard = nullptr;
            CUmemoryPool current = nullptr;
            ASSERT_CU(cuMemGetDefaultMemPool(&standard, &location, type));
            ASSERT_CU(cuMemGetMemPool(&current, &location, type));
            EXPECT_EQ(current, standard);
            EXPECT_NE(standard, before);
            before = standard;
            const CUmemoryPool pool = new_pool_at(location, type);
            ASSERT_CU(cuMemSetMemPool(&location, type, pool));
            ASSERT_CU(cuMemGetMemPool(&current, &location, type));
            EXPECT_EQ(current, pool);
            ASSERT_CU(cuMemPoolDestroy(pool));
            ASSERT_CU(cuMemGetMemPool(&current, &location, type));
            EXPECT_EQ(current, standard);
        }
    });
}

TEST(PoolPlace, OthersAreRefused)
{
    with_context([] {
        CUmemoryPool pool = nullptr;
        CUmemLocation none{CU_MEM_LOCATION_TYPE_NONE, 0};
        CUmemLocation current_node{CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
        CUmemLocation missing = on_device(7);
        CUmemLocation device = on_device(0);
        EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &none, kPinned), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &current_node, kPinned), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &missing, kPinned), CUDA_ERROR_INVALID_DEVICE);
        EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &device, CU_MEM_ALLOCATION_TYPE_INVALID),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemGetMemPool(&pool, nullptr, kPinned), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemGetMemPool(nullptr, &device, kPinned), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemSetMemPool(&device, kManaged, new_pool_at(device)),
                  CUDA_ERROR_INVALID_VALUE);
        CUmemPoolProps properties{};
        properties.allocType = kPinned;
        properties.location = current_node;
        EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
        properties.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
        properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(pool, nullptr);
    });
}

TEST(PoolPlace, HostMemoryIsTheHosts)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUmemoryPool pool = new_pool_at({CU_MEM_LOCATION_TYPE_HOST, 0});
        const CUdeviceptr address = allocate_from(pool, 3 * kMiB);
        EXPECT_EQ(free_bytes(), all);
        *reinterpret_cast<char*>(address) = 'h';
        const CUdeviceptr copy = allocate(kMiB);
        ASSERT_CU(cuMemcpyDtoD(copy, address, kMiB));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(peek(copy), 'h');
        EXPECT_EQ(attribute_of<unsigned>(address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
                  static_cast<unsigned>(CU_MEMORYTYPE_HOST));
        EXPECT_EQ(attribute_of<CUmemoryPool>(address, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), pool);
        cuuint64_t used = 0;
        ASSERT_CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
        EXPECT_EQ(used, 3 * kMiB);
        CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
        CUmemLocation host{CU_MEM_LOCATION_TYPE_HOST, 0};
        CUmemLocation device = on_device(0);
        ASSERT_CU(cuMemPoolGetAccess(&access, pool, &host));
        EXPECT_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        ASSERT_CU(cuMemPoolGetAccess(&access, pool, &device));
        EXPECT_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_NONE);
        EXPECT_CU(cuMemFreeAsync(address, nullptr));
        EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(PoolPlace, ManagedMemoryIsManaged)
{
    with_context([] {
        const CUmemoryPool pool = new_pool_at({CU_MEM_LOCATION_TYPE_NONE, 0}, kManaged);
        const CUdeviceptr address = allocate_from(pool, kMiB);
        EXPECT_EQ(attribute_of<unsigned char>(address, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1);
        EXPECT_CU(cuMemAdvise(address, kMiB, CU_MEM_ADVISE_SET_READ_MOSTLY, on_device(0)));
        EXPECT_CU(cuMemFree(address));
        EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_CU(cuMemPoolDestroy(pool));
    });
}

TEST(PoolPlace, PoolsHaveAMostIfAsked)
{
    with_context([] {
        CUmemPoolProps properties{};
        properties.allocType = kPinned;
        properties.location = on_device(0);
        properties.maxSize = 8 * kMiB;
        CUmemoryPool pool = nullptr;
        ASSERT_CU(cuMemPoolCreate(&pool, &properties));
        allocate_from(pool, 6 * kMiB);
        CUdeviceptr address = 0;
        EXPECT_EQ(cuMemAllocFromPoolAsync(&address, 4 * kMiB, pool, nullptr),
                  CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_CU(cuMemAllocFromPoolAsync(&address, 2 * kMiB, pool, nullptr));
    });
}
#endif
