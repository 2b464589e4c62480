// tools/simgpu/runtime/state.cpp — errors, the chosen device, and the end of the process.
#include <array>
#include <mutex>
#include <unistd.h>

#include "tools/simgpu/runtime/call.hpp"
#include "tools/simgpu/runtime/image.hpp"

namespace simgpu::runtime {
namespace {

constexpr int kMostDevices = 16;

constinit thread_local cudaError_t last_error = cudaSuccess;
constinit thread_local int device = 0;

struct Primaries {
    std::mutex mutex;
    std::array<CUcontext, kMostDevices> context{};
    std::array<unsigned, kMostDevices> retained{};
    pid_t owner = 0;
};

Primaries& primaries()
{
    static auto* all = new Primaries;
    return *all;
}

// The destructor of libcudart runs after the program's atexit handlers, when statics of other
// libraries may be gone.
[[gnu::destructor]] void release_all()
{
    const Driver* const driver = opened_driver();
    Primaries& all = primaries();
    // A child of fork owns nothing.
    if (!driver || (all.owner != 0 && all.owner != getpid()))
        return;
    unload_images(*driver);
    for (int ordinal = 0; ordinal < kMostDevices; ++ordinal)
        for (unsigned& count = all.retained[static_cast<std::size_t>(ordinal)]; count > 0; --count)
            driver->cuDevicePrimaryCtxRelease(ordinal);
}

} // namespace

cudaError_t error_of(CUresult result)
{
    return static_cast<cudaError_t>(result);
} // they are the same numbers since CUDA 10.1
CUresult result_of(cudaError_t error)
{
    return static_cast<CUresult>(error);
}

cudaError_t remember(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

const Driver* open_or_remember(cudaError_t& error)
{
    CUresult why_not = CUDA_SUCCESS;
    const Driver* const found = driver(why_not);
    if (!found)
        error = remember(why_not == CUDA_ERROR_NOT_FOUND ? cudaErrorInsufficientDriver
                                                         : cudaErrorInitializationError);
    return found;
}

int& chosen_device()
{
    return device;
}

CUresult primary_context(const Driver& driver, int ordinal, CUcontext& context)
{
    CUdevice found = 0;
    if (const CUresult error = driver.cuDeviceGet(&found, ordinal))
        return error;
    Primaries& all = primaries();
    const std::lock_guard lock(all.mutex);
    const auto index = static_cast<std::size_t>(ordinal);
    if (index >= all.context.size())
        return CUDA_ERROR_INVALID_DEVICE;
    if (!all.context[index]) {
        if (const CUresult error = driver.cuDevicePrimaryCtxRetain(&all.context[index], ordinal))
            return error;
        ++all.retained[index];
        all.owner = getpid();
    }
    context = all.context[index];
    return CUDA_SUCCESS;
}

CUresult ensure_context(const Driver& driver)
{
    CUcontext current = nullptr;
    if (const CUresult error = driver.cuCtxGetCurrent(&current))
        return error;
    CUdevice ordinal = 0;
    // A context that a reset destroyed is still current, but has no device any more.
    if (current && driver.cuCtxGetDevice(&ordinal) != CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return CUDA_SUCCESS;
    CUcontext context = nullptr;
    if (const CUresult error = primary_context(driver, device, context))
        return error;
    return driver.cuCtxSetCurrent(context);
}

} // namespace simgpu::runtime

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

SIMGPU_RUNTIME cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

SIMGPU_RUNTIME cudaError_t cudaSetDevice(int ordinal)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        CUcontext context = nullptr;
        if (const CUresult error = primary_context(driver, ordinal, context))
            return error;
        device = ordinal;
        return driver.cuCtxSetCurrent(context);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGetDevice(int* ordinal)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        if (!ordinal)
            return CUDA_ERROR_INVALID_VALUE;
        CUcontext current = nullptr;
        CUdevice of_current = 0;
        driver.cuCtxGetCurrent(&current);
        *ordinal =
            current && driver.cuCtxGetDevice(&of_current) == CUDA_SUCCESS ? of_current : device;
        return CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaDeviceReset(void)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        Primaries& all = primaries();
        {
            const std::lock_guard lock(all.mutex);
            all.context[static_cast<std::size_t>(device)] = nullptr;
        }
        if (const CUresult error = driver.cuDevicePrimaryCtxReset(device))
            return error;
        return driver.cuCtxSetCurrent(nullptr);
    });
}
