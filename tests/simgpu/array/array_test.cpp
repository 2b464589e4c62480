// tests/simgpu/array/array_test.cpp — arrays and mipmapped arrays.
#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

CUDA_ARRAY3D_DESCRIPTOR described(size_t width, size_t height, size_t depth, unsigned flags = 0)
{
    return {width, height, depth, CU_AD_FORMAT_FLOAT, 4, flags};
}

} // namespace

TEST(Array, TakesDeviceMemoryAndGivesItBack)
{
    with_context([] {
        const size_t all = free_bytes();
        const auto wanted = described(1024, 1024, 0);
        CUarray array = nullptr;
        ASSERT_CU(cuArray3DCreate(&array, &wanted));
        EXPECT_EQ(free_bytes(), all - 16 * kMiB);
        ASSERT_CU(cuArrayDestroy(array));
        EXPECT_EQ(free_bytes(), all);
        EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
    });
}

TEST(Array, KeepsRowsCopiedIntoIt)
{
    with_context([] {
        const CUDA_ARRAY_DESCRIPTOR wanted{8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1};
        CUarray array = nullptr;
        ASSERT_CU(cuArrayCreate(&array, &wanted));
        const char rows[] = "aaaaaaaabbbbbbbbccccccccdddddddd";
        CUDA_MEMCPY2D shape{};
        shape.srcMemoryType = CU_MEMORYTYPE_HOST;
        shape.srcHost = rows;
        shape.srcPitch = 8;
        shape.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        shape.dstArray = array;
        shape.WidthInBytes = 8;
        shape.Height = 4;
        ASSERT_CU(cuMemcpy2D(&shape));
        char third = 0;
        CUDA_MEMCPY2D back{};
        back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        back.srcArray = array;
        back.srcXInBytes = 7;
        back.srcY = 2;
        back.dstMemoryType = CU_MEMORYTYPE_HOST;
        back.dstHost = &third;
        back.WidthInBytes = 1;
        back.Height = 1;
        ASSERT_CU(cuMemcpy2D(&back));
        EXPECT_EQ(third, 'c');
    });
}

TEST(Array, TellsRequirementsForDeferredMappingOnly)
{
    with_context([] {
        const size_t all = free_bytes();
        CUDA_ARRAY_MEMORY_REQUIREMENTS requirements{};
        CUarray array = nullptr;
        const auto plain = described(64, 64, 0);
        ASSERT_CU(cuArray3DCreate(&array, &plain));
        EXPECT_EQ(cuArrayGetMemoryRequirements(&requirements, array, 0), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuArrayDestroy(array));
        const auto deferred = described(1024, 1024, 0, CUDA_ARRAY3D_DEFERRED_MAPPING);
        ASSERT_CU(cuArray3DCreate(&array, &deferred));
        EXPECT_EQ(free_bytes(), all);
        ASSERT_CU(cuArrayGetMemoryRequirements(&requirements, array, 0));
        EXPECT_EQ(requirements.size, 16 * kMiB);
    });
}

TEST(Array, RefusesWhatHasNoShape)
{
    with_context([] {
        CUarray array = nullptr;
        auto wrong = described(0, 1, 1);
        EXPECT_EQ(cuArray3DCreate(&array, &wrong), CUDA_ERROR_INVALID_VALUE);
        wrong = described(8, 8, 0);
        wrong.NumChannels = 3;
        EXPECT_EQ(cuArray3DCreate(&array, &wrong), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(array, nullptr);
    });
}

TEST(Mipmap, OwnsItsLevels)
{
    with_context([] {
        const size_t all = free_bytes();
        const auto wanted = described(256, 256, 0);
        CUmipmappedArray mipmap = nullptr;
        ASSERT_CU(cuMipmappedArrayCreate(&mipmap, &wanted, 3));
        EXPECT_LT(free_bytes(), all);
        CUarray level = nullptr;
        ASSERT_CU(cuMipmappedArrayGetLevel(&level, mipmap, 2));
        CUDA_ARRAY3D_DESCRIPTOR described_level{};
        ASSERT_CU(cuArray3DGetDescriptor(&described_level, level));
        EXPECT_EQ(described_level.Width, 64u);
        EXPECT_EQ(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuMipmappedArrayGetLevel(&level, mipmap, 3), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuMipmappedArrayDestroy(mipmap));
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Array, HandlesOfADestroyedContextComeAgainInTheSameOrder)
{
    with_context([] {
        const auto wanted = described(64, 64, 0);
        constexpr size_t kArrays = 64; // too many to be in order by chance
        CUarray before[kArrays];
        const CUcontext doomed = create_context();
        for (CUarray& array : before)
            ASSERT_CU(cuArray3DCreate(&array, &wanted));
        ASSERT_CU(cuCtxDestroy(doomed));
        for (size_t i = kArrays; i-- > 0;) {
            CUarray again = nullptr;
            ASSERT_CU(cuArray3DCreate(&again, &wanted));
            EXPECT_EQ(again, before[i]);
        }
    });
}
