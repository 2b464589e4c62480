// tests/simgpu/array/texture_test.cpp — what texture and surface objects take and tell.
#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

CUDA_RESOURCE_DESC of_array(CUarray array)
{
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
}

CUDA_RESOURCE_DESC of_memory(CUdeviceptr address, size_t bytes)
{
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = address;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = bytes;
    return resource;
}

CUarray create_array()
{
    CUarray array = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR described{
        8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    EXPECT_CU(cuArray3DCreate(&array, &described));
    return array;
}

} // namespace

TEST(Texture, TellsWhatItWasMadeFrom)
{
    with_context([] {
        const CUarray array = create_array();
        const CUDA_RESOURCE_DESC resource = of_array(array);
        CUDA_TEXTURE_DESC texture{};
        texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
        CUDA_RESOURCE_VIEW_DESC view{};
        view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
        CUtexObject with_view = 0;
        CUtexObject without = 0;
        ASSERT_CU(cuTexObjectCreate(&with_view, &resource, &texture, &view));
        ASSERT_CU(cuTexObjectCreate(&without, &resource, &texture, nullptr));
        EXPECT_NE(with_view, without);
        CUDA_RESOURCE_DESC told{};
        CUDA_TEXTURE_DESC told_texture{};
        CUDA_RESOURCE_VIEW_DESC told_view{};
        ASSERT_CU(cuTexObjectGetResourceDesc(&told, with_view));
        ASSERT_CU(cuTexObjectGetTextureDesc(&told_texture, with_view));
        ASSERT_CU(cuTexObjectGetResourceViewDesc(&told_view, with_view));
        EXPECT_EQ(told.res.array.hArray, array);
        EXPECT_EQ(told_texture.filterMode, CU_TR_FILTER_MODE_LINEAR);
        EXPECT_EQ(told_view.format, CU_RES_VIEW_FORMAT_FLOAT_1X32);
        EXPECT_EQ(cuTexObjectGetResourceViewDesc(&told_view, without), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Texture, IsGoneOnceDestroyed)
{
    with_context([] {
        const CUDA_RESOURCE_DESC resource = of_memory(allocate(4096), 4096);
        const CUDA_TEXTURE_DESC texture{};
        CUtexObject object = 0;
        ASSERT_CU(cuTexObjectCreate(&object, &resource, &texture, nullptr));
        ASSERT_CU(cuTexObjectDestroy(object));
        EXPECT_EQ(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
        CUDA_RESOURCE_DESC told{};
        EXPECT_EQ(cuTexObjectGetResourceDesc(&told, object), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Texture, NeedsAPlaceToReadFrom)
{
    with_context([] {
        const CUdeviceptr address = allocate(4096);
        const CUDA_TEXTURE_DESC texture{};
        const CUDA_RESOURCE_VIEW_DESC view{};
        CUtexObject object = 77;
        const auto create = [&](const CUDA_RESOURCE_DESC& resource) {
            return cuTexObjectCreate(&object, &resource, &texture, nullptr);
        };
        EXPECT_EQ(create(of_array(nullptr)), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(of_memory(0, 4096)), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(of_memory(address + 4, 64)), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(of_memory(address, 0)), CUDA_ERROR_INVALID_VALUE);
        CUDA_RESOURCE_DESC flagged = of_memory(address, 4096);
        flagged.flags = 1;
        EXPECT_EQ(create(flagged), CUDA_ERROR_INVALID_VALUE);
        const CUDA_RESOURCE_DESC memory = of_memory(address, 4096);
        EXPECT_EQ(cuTexObjectCreate(&object, &memory, &texture, &view), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuTexObjectCreate(&object, &memory, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
        const CUarray array = create_array();
        ASSERT_CU(cuArrayDestroy(array));
        EXPECT_EQ(create(of_array(array)), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(object, 77u);
    });
}

TEST(Texture, ReadsPitchedMemoryByRows)
{
    with_context([] {
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D = {allocate(64 * kKiB), CU_AD_FORMAT_FLOAT, 1, 100, 100, 512};
        const CUDA_TEXTURE_DESC texture{};
        CUtexObject object = 0;
        EXPECT_CU(cuTexObjectCreate(&object, &resource, &texture, nullptr));
        resource.res.pitch2D.pitchInBytes = 500;
        EXPECT_EQ(cuTexObjectCreate(&object, &resource, &texture, nullptr),
                  CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Surface, IsOfAnArrayOnly)
{
    with_context([] {
        const CUarray array = create_array();
        const CUDA_RESOURCE_DESC resource = of_array(array);
        const CUDA_RESOURCE_DESC memory = of_memory(allocate(4096), 4096);
        CUsurfObject object = 0;
        EXPECT_EQ(cuSurfObjectCreate(&object, &memory), CUDA_ERROR_INVALID_VALUE);
        ASSERT_CU(cuSurfObjectCreate(&object, &resource));
        CUDA_RESOURCE_DESC told{};
        ASSERT_CU(cuSurfObjectGetResourceDesc(&told, object));
        EXPECT_EQ(told.res.array.hArray, array);
        EXPECT_EQ(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE); // it is no texture
        EXPECT_CU(cuSurfObjectDestroy(object));
        EXPECT_EQ(cuSurfObjectGetResourceDesc(&told, object), CUDA_ERROR_INVALID_VALUE);
    });
}
