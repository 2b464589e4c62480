// tests/simgpu/context/green_context_test.cpp — green contexts, and every form of cuCtxCreate.
#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

#if CUDA_VERSION >= 13000
namespace {

CUdevResource multiprocessors()
{
    CUdevResource resource{};
    EXPECT_CU(cuDeviceGetDevResource(0, &resource, CU_DEV_RESOURCE_TYPE_SM));
    return resource;
}

CUdevResourceDesc describe(CUdevResource resource)
{
    CUdevResourceDesc description = nullptr;
    EXPECT_CU(cuDevResourceGenerateDesc(&description, &resource, 1));
    return description;
}

CUgreenCtx create_green(CUdevResource resource)
{
    CUgreenCtx green = nullptr;
    EXPECT_CU(cuGreenCtxCreate(&green, describe(resource), 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

} // namespace

TEST(GreenContext, SharesThePrimaryContextAndItsMemory)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        const CUgreenCtx green = create_green(multiprocessors());
        CUcontext primary = nullptr;
        CUcontext converted = nullptr;
        ASSERT_CU(cuDevicePrimaryCtxRetain(&primary, 0));
        ASSERT_CU(cuCtxFromGreenCtx(&converted, green));
        EXPECT_EQ(converted, primary);
        ASSERT_CU(cuDevicePrimaryCtxRelease(0));
        ASSERT_CU(cuCtxSetCurrent(converted)); // the green context retains it
        const size_t all = free_bytes();
        const CUdeviceptr address = allocate(4 * kMiB);
        CUcontext owner = nullptr;
        ASSERT_CU(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
        EXPECT_EQ(owner, primary);
        ASSERT_CU(cuGreenCtxDestroy(green));
        EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuCtxFromGreenCtx(&converted, green), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuMemFree(address), CUDA_ERROR_CONTEXT_IS_DESTROYED); // it was the last user
        create_context();
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(GreenContext, SeesAResetOfItsPrimaryContext)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        const CUgreenCtx green = create_green(multiprocessors());
        ASSERT_CU(cuDevicePrimaryCtxReset(0));
        CUcontext converted = nullptr;
        EXPECT_EQ(cuCtxFromGreenCtx(&converted, green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_CU(cuGreenCtxDestroy(green));
    });
}

TEST(GreenContext, StreamsEndWithIt)
{
    with_context([] {
        const CUgreenCtx green = create_green(multiprocessors());
        CUstream stream = nullptr;
        EXPECT_EQ(cuGreenCtxStreamCreate(&stream, green, 0, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGreenCtxStreamCreate(&stream, nullptr, CU_STREAM_NON_BLOCKING, 0),
                  CUDA_ERROR_INVALID_CONTEXT);
        ASSERT_CU(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
        CUdeviceptr address = 0;
        ASSERT_CU(cuMemAllocAsync(&address, kMiB, stream));
        CUgreenCtx found = nullptr;
        ASSERT_CU(cuStreamGetGreenCtx(stream, &found));
        EXPECT_EQ(found, green);
        CUcontext context = nullptr;
        found = nullptr;
        ASSERT_CU(cuStreamGetCtx_v2(stream, &context, &found));
        EXPECT_EQ(found, green);
        ASSERT_CU(cuStreamGetGreenCtx(nullptr, &found));
        EXPECT_EQ(found, nullptr);
        ASSERT_CU(cuGreenCtxDestroy(green));
        EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_CU(cuMemFree(address));
    });
}

TEST(GreenContext, ResourcesSplit)
{
    with_context([] {
        const CUdevResource whole = multiprocessors();
        EXPECT_EQ(whole.sm.smCount, 132u);
        unsigned groups = 0;
        ASSERT_CU(cuDevSmResourceSplitByCount(nullptr, &groups, &whole, nullptr, 0, 30));
        EXPECT_EQ(groups, 4u); // with 32 multiprocessors each
        CUdevResource parts[2] = {};
        CUdevResource rest{};
        groups = 2;
        ASSERT_CU(cuDevSmResourceSplitByCount(parts, &groups, &whole, &rest, 0, 30));
        EXPECT_EQ(groups, 2u);
        EXPECT_EQ(parts[1].sm.smCount, 32u);
        EXPECT_EQ(rest.sm.smCount, 68u);
        EXPECT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &parts[0], nullptr, 0, 8),
                  CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
        CUdevResource of_green{};
        ASSERT_CU(
            cuGreenCtxGetDevResource(create_green(parts[0]), &of_green, CU_DEV_RESOURCE_TYPE_SM));
        EXPECT_EQ(of_green.sm.smCount, 32u);
        EXPECT_CU(cuDevSmResourceSplitByCount(nullptr, &groups, &of_green, nullptr, 0, 8));
        CUdevResourceDesc both = nullptr;
        EXPECT_CU(cuDevResourceGenerateDesc(&both, parts, 2));
        CUdevResource twice[] = {parts[0], parts[0]};
        EXPECT_EQ(cuDevResourceGenerateDesc(&both, twice, 2),
                  CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    });
}

TEST(GreenContext, RefusesWhatNobodyMade)
{
    before_init({"2x64MiB", kAnHour}, [] {
        ASSERT_CU(cuInit(0));
        CUgreenCtx green = nullptr;
        CUdevResource garbage{};
        CUdevResourceDesc description = nullptr;
        unsigned groups = 1;
        EXPECT_EQ(cuDevResourceGenerateDesc(&description, &garbage, 1),
                  CUDA_ERROR_INVALID_RESOURCE_TYPE);
        EXPECT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &garbage, nullptr, 0, 1),
                  CUDA_ERROR_INVALID_RESOURCE_TYPE);
        EXPECT_EQ(cuDeviceGetDevResource(0, &garbage, CU_DEV_RESOURCE_TYPE_INVALID),
                  CUDA_ERROR_INVALID_RESOURCE_TYPE);
        EXPECT_EQ(cuDeviceGetDevResource(0, nullptr, CU_DEV_RESOURCE_TYPE_SM),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuDeviceGetDevResource(7, &garbage, CU_DEV_RESOURCE_TYPE_SM),
                  CUDA_ERROR_INVALID_DEVICE);
        const auto good = describe(multiprocessors());
        EXPECT_EQ(cuGreenCtxCreate(&green, nullptr, 0, CU_GREEN_CTX_DEFAULT_STREAM),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGreenCtxCreate(&green, good, 0, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuGreenCtxCreate(&green, good, 1, CU_GREEN_CTX_DEFAULT_STREAM),
                  CUDA_ERROR_INVALID_VALUE); // these are another device's resources
        EXPECT_EQ(cuGreenCtxCreate(nullptr, good, 0, CU_GREEN_CTX_DEFAULT_STREAM),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(green, nullptr);
        EXPECT_EQ(cuGreenCtxDestroy(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    });
}
#else
TEST(GreenContext, IsInNewerHeaders)
{
    GTEST_SKIP() << "the headers of CUDA 13.0 are not here";
}
#endif
