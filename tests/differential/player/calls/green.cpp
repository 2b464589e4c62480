// tests/differential/player/calls/green.cpp — green contexts: shares of a device.
//
// They hold the primary context of the device.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

#if CUDA_VERSION >= 12040

void create(World& world)
{
    Out<CUgreenCtx> green;
    Out<CUdevResource> resource;
    Out<CUdevResourceDesc> description;
    world.maybe_null(green);
    const CUdevice device = world.device();
    if (CALL(world, cuDeviceGetDevResource, device, resource, CU_DEV_RESOURCE_TYPE_SM) !=
            CUDA_SUCCESS ||
        CALL(world, cuDevResourceGenerateDesc, description, &resource.value, 1U) != CUDA_SUCCESS)
        return;
    const auto flags = world.rng().one_of<unsigned>({1, 1, 0});
    if (CALL(world, cuGreenCtxCreate, green, description.value, device, flags) != CUDA_SUCCESS)
        return;
    world.add(Thing::green, green.value);
    // A primary context that was made for it alone is known to vramscope by this only.
    Out<CUcontext> context;
    CALL(world, cuCtxFromGreenCtx, context, green.value);
}

void destroy(World& world)
{
    const std::uint64_t handle = world.handle(Thing::green);
    if (CALL(world, cuGreenCtxDestroy, reinterpret_cast<CUgreenCtx>(handle)) == CUDA_SUCCESS)
        if (Object* const green = world.known(Thing::green, handle))
            green->live = false;
}

void convert(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    if (CALL(world, cuCtxFromGreenCtx, context, world.handle_as<CUgreenCtx>(Thing::green)) ==
        CUDA_SUCCESS)
        CALL(world, cuCtxSetCurrent, context.value);
}

constexpr Operation kOperations[] = {{1, &create}, {1, &destroy}, {1, &convert}};
constexpr std::span<const Operation> kAll = kOperations;

#else
constexpr std::span<const Operation> kAll;
#endif

} // namespace

std::span<const Operation> green_operations()
{
    return kAll;
}

} // namespace differential
