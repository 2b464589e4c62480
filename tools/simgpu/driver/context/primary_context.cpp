// tools/simgpu/driver/context/primary_context.cpp — one shared context for each device.
//
// It counts its users, and the last release destroys it. A reset destroys it at once and keeps the
// count; the next retain makes a new one.
#include "api.hpp"
#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {
namespace {

struct Primary {
    Context* context = nullptr;
    unsigned users = 0;
    unsigned flags = 0;
};

struct Primaries {
    std::mutex mutex;
    std::map<CUdevice, Primary> by_device;
};

Primaries& primaries()
{
    static auto* all = new Primaries;
    return *all;
}

} // namespace

namespace api {

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(primaries().mutex);
    Primary& primary = primaries().by_device[dev];
    if (!primary.context) {
        primary.context = open_context(*device, primary.flags, 3020);
        if (!primary.context)
            return CUDA_ERROR_OUT_OF_MEMORY;
        primary.context->primary = true;
    }
    ++primary.users;
    *pctx = reinterpret_cast<CUcontext>(primary.context);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(primaries().mutex);
    Primary& primary = primaries().by_device[dev];
    if (primary.users == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary.users == 0 && primary.context) {
        close_context(*primary.context);
        primary.context = nullptr;
    }
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(primaries().mutex);
    Primary& primary = primaries().by_device[dev];
    if (primary.context)
        close_context(*primary.context);
    primary.context = nullptr;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if ((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(primaries().mutex);
    Primary& primary = primaries().by_device[dev];
    primary.flags = flags;
    if (primary.context)
        primary.context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(primaries().mutex);
    const Primary& primary = primaries().by_device[dev];
    *flags = primary.flags;
    *active = primary.context ? 1 : 0;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
