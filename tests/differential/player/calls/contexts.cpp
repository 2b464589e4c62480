// tests/differential/player/calls/contexts.cpp — contexts made, entered, left and destroyed.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

void created(World& world, CUresult result, const Out<CUcontext>& context, CUdevice device)
{
    if (result == CUDA_SUCCESS)
        world.add(Thing::context, context.value).device = device;
}

unsigned some_flags(World& world)
{
    return world.rng().one_of<unsigned>({CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, 0xffff});
}

void create_v2(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    const CUdevice device = world.device();
    created(world, CALL(world, cuCtxCreate_v2, context, some_flags(world), device), context,
            device);
}

void create_v1(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    const CUdevice device = world.device();
    created(world, CALL(world, cuCtxCreate, context, some_flags(world), device), context, device);
}

void create_v3(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    In<CUexecAffinityParam> affinity;
    affinity.null = true;
    const CUdevice device = world.device();
    created(world, CALL(world, cuCtxCreate_v3, context, affinity, 0, some_flags(world), device),
            context, device);
}

#if CUDA_VERSION >= 12050
void create_v4(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    In<CUctxCreateParams> parameters;
    parameters.null = world.rng().chance(50);
    const CUdevice device = world.device();
    created(world, CALL(world, cuCtxCreate_v4, context, parameters, some_flags(world), device),
            context, device);
}
#endif

void destroy_v2(World& world)
{
    CALL(world, cuCtxDestroy_v2, world.handle_as<CUcontext>(Thing::context));
}

void destroy_v1(World& world)
{
    CALL(world, cuCtxDestroy, world.handle_as<CUcontext>(Thing::context));
}

void attach(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    CALL(world, cuCtxAttach, context, world.rng().one_of<unsigned>({0, 0, 1}));
}

void detach(World& world)
{
    CALL(world, cuCtxDetach, world.handle_as<CUcontext>(Thing::context));
}

void retain_primary(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    const CUdevice device = world.device();
    if (CALL(world, cuDevicePrimaryCtxRetain, context, device) != CUDA_SUCCESS)
        return;
    ++world.primary_users[device];
    if (world.known(Thing::context, reinterpret_cast<std::uint64_t>(context.value)))
        return;
    Object& made = world.add(Thing::context, context.value);
    made.primary = true;
    made.device = device;
}

// A program that uses the runtime too may not take the runtime's own reference.
bool may_release(World& world, CUdevice device)
{
    return !world.profile().runtime || device >= kDevices || world.primary_users[device] > 0;
}

void released(World& world, CUresult result, CUdevice device)
{
    if (result == CUDA_SUCCESS && world.primary_users[device] > 0)
        --world.primary_users[device];
}

void release_primary_v2(World& world)
{
    const CUdevice device = world.device();
    if (may_release(world, device))
        released(world, CALL(world, cuDevicePrimaryCtxRelease_v2, device), device);
}

void release_primary_v1(World& world)
{
    const CUdevice device = world.device();
    if (may_release(world, device))
        released(world, CALL(world, cuDevicePrimaryCtxRelease, device), device);
}

void reset_primary_v2(World& world)
{
    const CUdevice device = world.device();
    if (!world.profile().runtime)
        CALL(world, cuDevicePrimaryCtxReset_v2, device);
}

void reset_primary_v1(World& world)
{
    const CUdevice device = world.device();
    if (!world.profile().runtime)
        CALL(world, cuDevicePrimaryCtxReset, device);
}

void set_current(World& world)
{
    CALL(world, cuCtxSetCurrent, world.handle_as<CUcontext>(Thing::context));
}

void push_current(World& world)
{
    CALL(world, cuCtxPushCurrent_v2, world.handle_as<CUcontext>(Thing::context));
}

void pop_current(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    CALL(world, cuCtxPopCurrent_v2, context);
}

void synchronize(World& world)
{
    CALL(world, cuCtxSynchronize);
}

void initialise(World& world)
{
    CALL(world, cuInit, world.rng().one_of<unsigned>({0, 0, 0, 1}));
}

constexpr Operation kOperations[] = {
    {2, &create_v2},
    {1, &create_v1},
    {1, &create_v3},
#if CUDA_VERSION >= 12050
    {1, &create_v4},
#endif
    {2, &destroy_v2},
    {1, &destroy_v1},
    {2, &attach},
    {3, &detach},
    {3, &retain_primary},
    {1, &release_primary_v2},
    {1, &release_primary_v1},
    {1, &reset_primary_v2},
    {1, &reset_primary_v1},
    {6, &set_current},
    {2, &push_current},
    {2, &pop_current},
    {2, &synchronize},
    {1, &initialise},
};

} // namespace

std::span<const Operation> context_operations()
{
    return kOperations;
}

} // namespace differential
