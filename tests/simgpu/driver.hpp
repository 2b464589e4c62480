// tests/simgpu/driver.hpp — each test has a simulated driver of its own, in a child process.
//
// By default queued work waits for an hour: in these tests it runs only because a call
// waits for it.
#pragma once

#include <cstdlib>
#include <string>

#include <cuda.h>

#include "tests/support/child.hpp"
#include "tools/simgpu/simgpu.h"

namespace simgpu::test {

inline constexpr char kAnHour[] = "3600000000";
inline constexpr size_t kKiB = size_t{1} << 10;
inline constexpr size_t kMiB = size_t{1} << 20;

#define EXPECT_CU(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define ASSERT_CU(call) ASSERT_EQ(call, CUDA_SUCCESS)

struct Setup {
    std::string simulate = "256MiB";
    std::string delay_us = kAnHour;
    std::string call_us = "0"; // how long an allocation and a free take
};

// Runs a test before cuInit, in a child with the environment of the setup.
template <class Body>
void before_init(const Setup& setup, Body body)
{
    vramscope::test::run_in_child([&] {
        ::setenv("VRAMSCOPE_SIMULATE", setup.simulate.c_str(), 1);
        ::setenv("VRAMSCOPE_SIM_DELAY_US", setup.delay_us.c_str(), 1);
        ::setenv("VRAMSCOPE_SIM_ALLOC_US", setup.call_us.c_str(), 1);
        ::setenv("VRAMSCOPE_SIM_FREE_US", setup.call_us.c_str(), 1);
        body();
    });
}

// Runs a test with a current context of device 0.
template <class Body>
void with_context(const Setup& setup, Body body)
{
    before_init(setup, [&] {
        ASSERT_CU(cuInit(0));
        CUcontext context = nullptr;
        ASSERT_CU(cuDevicePrimaryCtxRetain(&context, 0));
        ASSERT_CU(cuCtxSetCurrent(context));
        body();
    });
}

template <class Body>
void with_context(Body body)
{
    with_context(Setup{}, body);
}

// Makes a context of device 0, which is current then.
inline CUcontext create_context()
{
    CUcontext context = nullptr;
#if CUDA_VERSION >= 13000
    EXPECT_CU(cuCtxCreate(&context, nullptr, 0, 0));
#else
    EXPECT_CU(cuCtxCreate(&context, 0, 0));
#endif
    return context;
}

inline CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr address = 0;
    EXPECT_CU(cuMemAlloc(&address, bytes));
    return address;
}

inline size_t free_bytes()
{
    size_t free = 0;
    EXPECT_CU(cuMemGetInfo(&free, nullptr));
    return free;
}

// The host can look into simulated memory. A call of the driver would wait for queued work, but
// this does not.
inline unsigned char peek(CUdeviceptr address)
{
    return *reinterpret_cast<volatile unsigned char*>(address);
}

} // namespace simgpu::test
