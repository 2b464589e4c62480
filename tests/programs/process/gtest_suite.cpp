// tests/programs/process/gtest_suite.cpp — a suite of GoogleTest's that names its tests in the log.
//
// Usage: gtest_suite [GoogleTest's options]. The tests begin before CUDA is first called.
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vramscope_gtest.h>

#include <gtest/gtest.h>

#include "tests/programs/driver_program.hpp"

namespace {

constexpr std::size_t kMiB = 1 << 20;
CUdeviceptr cached = 0; // kept for further tests, and freed when all are over

CUdeviceptr allocate(std::size_t bytes)
{
    static const CUcontext context = primary_context();
    check(cuCtxSetCurrent(context));
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK suite_allocates
    return block;
}

TEST(Pool, Leaks)
{
    allocate(3 * kMiB);
}

TEST(Pool, LeaksInAThread)
{
    std::thread([] { allocate(1 * kMiB); }).join();
}

TEST(Pool, Caches)
{
    cached = allocate(2 * kMiB);
}

TEST(Pool, Cleans)
{
    check(cuMemFree_v2(allocate(8 * kMiB)));
}

TEST(Pool, Skips)
{
    GTEST_SKIP();
}

class Sizes : public testing::TestWithParam<int> {};

TEST_P(Sizes, AreFreed)
{
    check(cuMemFree_v2(allocate(static_cast<std::size_t>(GetParam()))));
}
INSTANTIATE_TEST_SUITE_P(Small, Sizes, testing::Values(512, 1024));

TEST(Faults, DISABLED_Fails)
{
    FAIL();
}

TEST(Faults, DISABLED_Crashes)
{
    allocate(1 * kMiB);
    std::abort();
}

TEST(Faults, DISABLED_Exits) // GoogleTest alone would not notice
{
    allocate(1 * kMiB);
    std::exit(0);
}

} // namespace

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    testing::UnitTest::GetInstance()->listeners().Append(new vramscope::GTestListener);
    const int status = RUN_ALL_TESTS();
    if (cached != 0)
        check(cuMemFree_v2(cached));
    return status;
}
