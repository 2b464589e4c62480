// tests/simgpu/context/context_test.cpp — initialisation, contexts, primary contexts, devices.
#include <thread>

#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

TEST(Init, ComesFirst)
{
    before_init({}, [] {
        int value = 77;
        EXPECT_EQ(cuDeviceGetCount(&value), CUDA_ERROR_NOT_INITIALIZED);
        EXPECT_EQ(value, 77);
        EXPECT_CU(cuDriverGetVersion(&value));
        EXPECT_EQ(value, CUDA_VERSION);
        EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
        EXPECT_CU(cuInit(0));
        EXPECT_CU(cuInit(0));
    });
}

TEST(Init, RefusesADescriptionItCannotRead)
{
    for (const char* bad : {"24Gib!", "0", "-1", "x2", "17x1GiB", "1000TiB", "many"})
        before_init({bad, kAnHour}, [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_INVALID_VALUE); });
}

TEST(Init, DoesNotSurviveFork)
{
    with_context([] {
        vramscope::test::run_in_child([] {
            CUdeviceptr address = 0;
            EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_NOT_INITIALIZED);
            EXPECT_EQ(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
        });
    });
}

TEST(Devices, AreAsManyAndAsLargeAsAsked)
{
    before_init({"3x64MiB", kAnHour}, [] {
        ASSERT_CU(cuInit(0));
        int count = 0;
        ASSERT_CU(cuDeviceGetCount(&count));
        EXPECT_EQ(count, 3);
        size_t bytes = 0;
        ASSERT_CU(cuDeviceTotalMem(&bytes, 2));
        EXPECT_EQ(bytes, 64 * kMiB);
        char name[64] = "";
        ASSERT_CU(cuDeviceGetName(name, sizeof name, 1));
        EXPECT_STREQ(name, "Simulated GPU");
        CUdevice device = 77;
        EXPECT_EQ(cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
        EXPECT_EQ(device, 77);
    });
}

TEST(Devices, HaveAddressesAndMemoryOfTheirOwn)
{
    before_init({"2x64MiB", kAnHour}, [] {
        ASSERT_CU(cuInit(0));
        CUcontext contexts[2] = {};
        CUdeviceptr addresses[2] = {};
        for (int device = 0; device < 2; ++device) {
            ASSERT_CU(cuDevicePrimaryCtxRetain(&contexts[device], device));
            ASSERT_CU(cuCtxSetCurrent(contexts[device]));
            addresses[device] = allocate(32 * kMiB);
        }
        for (int device = 0; device < 2; ++device) {
            int ordinal = -1;
            EXPECT_CU(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                            addresses[device]));
            EXPECT_EQ(ordinal, device);
            ASSERT_CU(cuCtxSetCurrent(contexts[device]));
            EXPECT_EQ(free_bytes(), 32 * kMiB);
        }
        ASSERT_CU(cuMemcpyHtoD(addresses[0], "peer", 5));
        ASSERT_CU(cuMemcpyPeer(addresses[1], contexts[1], addresses[0], contexts[0], 5));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(peek(addresses[1]), 'p');
    });
}

TEST(Devices, PeerAccessIsEnabledOnce)
{
    before_init({"2x64MiB", kAnHour}, [] {
        ASSERT_CU(cuInit(0));
        CUcontext first = nullptr;
        CUcontext second = nullptr;
        ASSERT_CU(cuDevicePrimaryCtxRetain(&first, 0));
        ASSERT_CU(cuDevicePrimaryCtxRetain(&second, 1));
        ASSERT_CU(cuCtxSetCurrent(first));
        int can = 0;
        EXPECT_CU(cuDeviceCanAccessPeer(&can, 0, 1));
        EXPECT_EQ(can, 1);
        EXPECT_EQ(cuCtxDisablePeerAccess(second), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        EXPECT_CU(cuCtxEnablePeerAccess(second, 0));
        EXPECT_EQ(cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        EXPECT_CU(cuCtxDisablePeerAccess(second));
    });
}

TEST(Context, FreesWhatItOwnsAndLeavesWhatItDoesNot)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        CUcontext keeper = nullptr;
        ASSERT_CU(cuDevicePrimaryCtxRetain(&keeper, 0));
        ASSERT_CU(cuCtxSetCurrent(keeper));
        const size_t all = free_bytes();
        const CUcontext doomed = create_context();
        const CUdeviceptr plain = allocate(10 * kMiB);
        CUdeviceptr pooled = 0;
        ASSERT_CU(cuMemAllocAsync(&pooled, 10 * kMiB, nullptr));
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        CUmemGenericAllocationHandle physical = 0;
        ASSERT_CU(cuMemCreate(&physical, 4 * kMiB, &properties, 0));
        ASSERT_CU(cuCtxDestroy(doomed));
        ASSERT_CU(cuCtxSetCurrent(keeper));
        EXPECT_EQ(free_bytes(), all - 32 * kMiB - 4 * kMiB);
        EXPECT_EQ(cuMemFree(plain), CUDA_ERROR_INVALID_VALUE);
        EXPECT_CU(cuMemFree(pooled));
        EXPECT_CU(cuMemRelease(physical));
        ASSERT_CU(cuCtxSynchronize());
        EXPECT_EQ(free_bytes(), all);
    });
}

TEST(Context, IsDestroyedForThreadsThatStillHaveIt)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        const CUcontext context = create_context();
        std::thread([context] { ASSERT_CU(cuCtxDestroy(context)); }).join();
        CUdeviceptr address = 0;
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
        // The handle may be given out again, the id is not.
        const CUcontext next = create_context();
        EXPECT_EQ(next, context);
        ASSERT_CU(cuCtxPopCurrent(nullptr));
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    });
}

TEST(Context, StackIsThatOfTheThread)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        CUcontext first = nullptr;
        CUcontext second = nullptr;
        CUcontext current = nullptr;
        first = create_context();
        second = create_context();
        std::thread([] {
            CUcontext none = reinterpret_cast<CUcontext>(1);
            EXPECT_CU(cuCtxGetCurrent(&none));
            EXPECT_EQ(none, nullptr);
            EXPECT_EQ(cuCtxPopCurrent(&none), CUDA_ERROR_INVALID_CONTEXT);
        }).join();
        ASSERT_CU(cuCtxPopCurrent(&current));
        EXPECT_EQ(current, second);
        ASSERT_CU(cuCtxGetCurrent(&current));
        EXPECT_EQ(current, first);
    });
}

#if CUDA_VERSION >= 12050
TEST(Context, IsMadeFromParametersThatAskForNothing)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        CUcontext context = nullptr;
        CUctxCreateParams parameters{};
        ASSERT_CU(cuCtxCreate_v4(&context, &parameters, 0, 0));
        EXPECT_NE(allocate(64), 0u);
        ASSERT_CU(cuCtxDestroy(context));
        ASSERT_CU(cuCtxCreate_v4(&context, nullptr, 0, 0));
        ASSERT_CU(cuCtxDestroy(context));
    });
}

TEST(Context, IsNotMadeFromParametersThatItHasNot)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        CUcontext context = nullptr;
        CUexecAffinityParam affinity{};
        CUctxCigParam graphics{};
        CUctxCreateParams both{&affinity, 1, &graphics};
        EXPECT_EQ(cuCtxCreate_v4(&context, &both, 0, 0), CUDA_ERROR_INVALID_VALUE);
        CUctxCreateParams one{nullptr, 0, &graphics};
        EXPECT_EQ(cuCtxCreate_v4(&context, &one, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(context, nullptr);
    });
}
#endif

TEST(PrimaryContext, LivesUntilItsLastRelease)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
        CUcontext first = nullptr;
        CUcontext second = nullptr;
        ASSERT_CU(cuDevicePrimaryCtxRetain(&first, 0));
        ASSERT_CU(cuDevicePrimaryCtxRetain(&second, 0));
        EXPECT_EQ(first, second);
        EXPECT_EQ(cuCtxDestroy(first), CUDA_ERROR_INVALID_CONTEXT);
        unsigned flags = 0;
        int active = 0;
        ASSERT_CU(cuDevicePrimaryCtxRelease(0));
        ASSERT_CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
        EXPECT_EQ(active, 1);
        ASSERT_CU(cuDevicePrimaryCtxRelease(0));
        ASSERT_CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
        EXPECT_EQ(active, 0);
    });
}

TEST(PrimaryContext, ResetFreesItsMemory)
{
    with_context([] {
        const size_t all = free_bytes();
        allocate(10 * kMiB);
        ASSERT_CU(cuDevicePrimaryCtxReset(0));
        CUdeviceptr address = 0;
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        CUcontext again = nullptr;
        ASSERT_CU(cuDevicePrimaryCtxRetain(&again, 0));
        ASSERT_CU(cuCtxSetCurrent(again));
        EXPECT_EQ(free_bytes(), all);
    });
}
