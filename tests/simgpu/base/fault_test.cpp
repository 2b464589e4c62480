// tests/simgpu/base/fault_test.cpp — armed failures, call counts, entry points not simulated.
#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

TEST(Fault, HitsTheCallItWasSetFor)
{
    with_context([] {
        CUdeviceptr address = 0;
        ASSERT_EQ(simgpu_set_fault("cuMemAlloc_v2", 2, CUDA_ERROR_OUT_OF_MEMORY), 0);
        EXPECT_CU(cuMemAlloc(&address, 8));
        EXPECT_NE(address, 0u);
        EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(address, 0u); // as the driver's own refusal leaves it
        EXPECT_CU(cuMemAlloc(&address, 8));
    });
}

TEST(Fault, HitsEachCallUntilCleared)
{
    with_context([] {
        const CUdeviceptr address = allocate(8);
        ASSERT_EQ(simgpu_set_fault("cuMemFree_v2", 0, CUDA_ERROR_UNKNOWN), 0);
        EXPECT_EQ(cuMemFree(address), CUDA_ERROR_UNKNOWN);
        EXPECT_EQ(cuMemFree(address), CUDA_ERROR_UNKNOWN);
        simgpu_clear_faults();
        EXPECT_CU(cuMemFree(address)); // the failed calls had done nothing
    });
}

TEST(Fault, NeedsAnExportedName)
{
    EXPECT_EQ(simgpu_set_fault("cuMemAllocate", 1, 1), -1);
    EXPECT_EQ(simgpu_call_count("cuMemAllocate"), ~0ULL);
    EXPECT_EQ(simgpu_call_count(nullptr), ~0ULL);
}

TEST(Calls, AreCountedUnderTheExportedName)
{
    with_context([] {
        const auto before = simgpu_call_count("cuMemAlloc_v2");
        CUdeviceptr address = 0;
        EXPECT_CU(cuMemAlloc(&address, 8));
        EXPECT_EQ(cuMemAlloc(nullptr, 8), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(simgpu_call_count("cuMemAlloc_v2"), before + 2);
    });
}

namespace {

std::string observed;

void observe(const char* name, int result)
{
    observed += name + ("=" + std::to_string(result)) + " ";
}

} // namespace

TEST(Calls, AreToldToTheObserver)
{
    with_context([] {
        simgpu_set_observer(&observe);
        CUdeviceptr address = 0;
        EXPECT_CU(cuMemAlloc(&address, 8));
        EXPECT_EQ(cuMemAlloc(nullptr, 8), CUDA_ERROR_INVALID_VALUE);
        simgpu_set_observer(nullptr);
        EXPECT_CU(cuMemFree(address));
        EXPECT_EQ(observed, "cuMemAlloc_v2=0 cuMemAlloc_v2=1 ");
    });
}

TEST(NotSimulated, SaysSoByResult)
{
    with_context([] {
        const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
        CUexternalSemaphore semaphore = nullptr;
        EXPECT_EQ(cuImportExternalSemaphore(&semaphore, &description), CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(semaphore, nullptr);
    });
}

TEST(Version, SaysThatItIsSimulated)
{
    EXPECT_EQ(std::string(simgpu_version()).rfind("simgpu ", 0), 0u);
}
