// tests/simgpu/array/sparse_test.cpp — physical memory mapped into arrays.
#include "tests/simgpu/physical.hpp"

using namespace simgpu::test;

namespace {

CUmemGenericAllocationHandle create_tiles(size_t bytes)
{
    auto wanted = physical_properties();
    wanted.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CU(cuMemCreate(&handle, bytes, &wanted, 0));
    return handle;
}

CUDA_ARRAY3D_DESCRIPTOR square(size_t side, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR made{};
    made.Width = side;
    made.Height = side;
    made.Format = CU_AD_FORMAT_UNSIGNED_INT32;
    made.NumChannels = 1;
    made.Flags = flags;
    return made;
}

CUarray create_sparse_array(unsigned flags)
{
    const auto wanted = square(512, flags);
    CUarray array = nullptr;
    EXPECT_CU(cuArray3DCreate(&array, &wanted));
    return array;
}

// The first tile of an array.
CUarrayMapInfo first_tile(CUarray array, CUmemGenericAllocationHandle memory)
{
    CUarrayMapInfo made{};
    made.resourceType = CU_RESOURCE_TYPE_ARRAY;
    made.resource.array = array;
    made.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
    made.subresource.sparseLevel.extentWidth = 128;
    made.subresource.sparseLevel.extentHeight = 128;
    made.subresource.sparseLevel.extentDepth = 1;
    made.memOperationType = memory ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP;
    made.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    made.memHandle.memHandle = memory;
    made.deviceBitMask = 1;
    return made;
}

CUresult apply(CUarrayMapInfo info)
{
    return cuMemMapArrayAsync(&info, 1, nullptr);
}

} // namespace

TEST(Sparse, ArraysHaveNoMemoryOfTheirOwn)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUarray sparse = create_sparse_array(CUDA_ARRAY3D_SPARSE);
        EXPECT_EQ(free_bytes(), all);
        CUDA_ARRAY_SPARSE_PROPERTIES properties{};
        ASSERT_CU(cuArrayGetSparseProperties(&properties, sparse));
        EXPECT_EQ(properties.tileExtent.width, 128u);
        EXPECT_EQ(properties.tileExtent.height, 128u);
        EXPECT_EQ(properties.tileExtent.depth, 1u);
        EXPECT_EQ(cuArrayGetSparseProperties(&properties, create_sparse_array(0)),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuArrayGetSparseProperties(nullptr, sparse), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Sparse, MappedMemoryStaysUntilItIsUnmapped)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUarray array = create_sparse_array(CUDA_ARRAY3D_SPARSE);
        const auto memory = create_tiles(2 * kMiB);
        ASSERT_CU(apply(first_tile(array, memory)));
        ASSERT_CU(cuMemRelease(memory));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        ASSERT_CU(apply(first_tile(array, 0)));
        EXPECT_EQ(free_bytes(), all - 2 * kMiB); // the memory goes back in stream order
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(free_bytes(), all);
        EXPECT_CU(cuArrayDestroy(array));
    });
}

TEST(Sparse, MappedMemoryGoesWithItsArray)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUarray array = create_sparse_array(CUDA_ARRAY3D_SPARSE);
        const CUarray deferred = create_sparse_array(CUDA_ARRAY3D_DEFERRED_MAPPING);
        const auto memory = create_tiles(2 * kMiB);
        ASSERT_CU(apply(first_tile(array, memory)));
        ASSERT_CU(apply(first_tile(deferred, memory)));
        ASSERT_CU(cuMemRelease(memory));
        ASSERT_CU(cuArrayDestroy(array));
        EXPECT_EQ(free_bytes(), all - 2 * kMiB);
        ASSERT_CU(cuArrayDestroy(deferred));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Sparse, MipmapsAreMappedAsAWhole)
{
    with_context([] {
        const size_t all = free_bytes();
        const auto wanted = square(512, CUDA_ARRAY3D_SPARSE);
        CUmipmappedArray mipmap = nullptr;
        ASSERT_CU(cuMipmappedArrayCreate(&mipmap, &wanted, 3));
        CUarray level = nullptr;
        ASSERT_CU(cuMipmappedArrayGetLevel(&level, mipmap, 1));
        const auto memory = create_tiles(2 * kMiB);
        EXPECT_EQ(apply(first_tile(level, memory)), CUDA_ERROR_INVALID_VALUE);
        CUarrayMapInfo info = first_tile(nullptr, memory);
        info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        info.resource.mipmap = mipmap;
        info.subresource.sparseLevel.level = 1;
        EXPECT_CU(apply(info));
        info.subresource.sparseLevel.level = 3;
        EXPECT_EQ(apply(info), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemRelease(memory));
        ASSERT_CU(cuMipmappedArrayDestroy(mipmap));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Sparse, ListsAreCheckedBeforeAnythingIsMapped)
{
    with_context([] {
        const size_t all = free_bytes();
        const CUarray array = create_sparse_array(CUDA_ARRAY3D_SPARSE);
        const auto memory = create_tiles(2 * kMiB);
        const auto plain = create_physical(2 * kMiB);
        CUarrayMapInfo good_and_bad[] = {first_tile(array, memory), first_tile(array, memory)};
        good_and_bad[1].subresource.sparseLevel.offsetX = 100; // no tile starts there
        EXPECT_EQ(cuMemMapArrayAsync(good_and_bad, 2, nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(apply(first_tile(array, plain)), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(apply(first_tile(array, 0x1234)), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(apply(first_tile(reinterpret_cast<CUarray>(0x1234), memory)),
                  CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(apply(first_tile(create_sparse_array(0), memory)), CUDA_ERROR_INVALID_VALUE);
        auto elsewhere = first_tile(array, memory);
        elsewhere.deviceBitMask = 2;
        EXPECT_EQ(apply(elsewhere), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemMapArrayAsync(nullptr, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMemRelease(memory));
        ASSERT_CU(cuMemRelease(plain));
        EXPECT_EQ(free_bytes(), all - 2 * kMiB); // only the plain array's bytes came back
    });
}
