// tests/differential/player/calls/clean_up.cpp — the end of a sequence.
//
// Some of what it left stays, as the leaks of the report. All else goes by the program's own calls,
// which are part of the sequence. Then the driver is as it was, but for free memory's place.
#include <cuda_runtime_api.h>

#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

constexpr unsigned kLeaksThatContextsTake = 50; // percent
constexpr unsigned kLeaksThatStay = 3;
constexpr std::uint64_t kLargestLeak = 8 << 20; // the device is to last for many sequences

void end_captures(World& world, Relay& relay)
{
    for (Object& stream : world.objects()) {
        if (stream.thing != Thing::stream || !stream.live || !stream.capturing)
            continue;
        relay.run(stream.thread, [&] {
            world.thread() = stream.thread;
            Out<CUgraph> graph;
            if (CALL(world, cuStreamEndCapture, reinterpret_cast<CUstream>(stream.handle), graph) ==
                CUDA_SUCCESS)
                world.add(Thing::graph, graph.value);
        });
        world.thread() = 0;
    }
}

void end_graphs(World& world)
{
    for (Object& object : world.objects()) {
        if (!object.live)
            continue;
        if (object.thing == Thing::exec)
            CALL(world, cuGraphExecDestroy, reinterpret_cast<CUgraphExec>(object.handle));
        else if (object.thing == Thing::graph)
            CALL(world, cuGraphDestroy, reinterpret_cast<CUgraph>(object.handle));
    }
}

// A pointer that is freed by its own family's function.
void free_block(World& world, const Block& block)
{
    const std::uint64_t address = block.address;
    void* const pointer = reinterpret_cast<void*>(address);
    switch (block.kind) {
    case Kind::device:
    case Kind::pitched:
    case Kind::managed:
    case Kind::async:
    case Kind::foreign:
        if (CALL(world, cuMemFree_v2, CUdeviceptr{address}) == CUDA_SUCCESS)
            world.freed(address, &freed_by_address);
        return;
    case Kind::pinned:
        if (CALL(world, cuMemFreeHost, pointer) == CUDA_SUCCESS)
            world.freed(address, &is<Kind::pinned>);
        return;
    case Kind::registered:
        if (CALL(world, cuMemHostUnregister, pointer) == CUDA_SUCCESS)
            world.freed(address, &is<Kind::registered>);
        return;
    case Kind::array:
        if (CALL(world, cuArrayDestroy, static_cast<CUarray>(pointer)) == CUDA_SUCCESS)
            world.freed(address, &is<Kind::array>);
        return;
    case Kind::mipmap:
        if (CALL(world, cuMipmappedArrayDestroy, static_cast<CUmipmappedArray>(pointer)) ==
            CUDA_SUCCESS)
            world.freed(address, &is<Kind::mipmap>);
        return;
    default:
        return;
    }
}

void free_blocks(World& world, bool (*wanted)(Kind), unsigned leaks)
{
    auto& blocks = world.model().blocks();
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (blocks[i].live && wanted(blocks[i].kind) &&
            (blocks[i].bytes > kLargestLeak || !world.rng().chance(leaks)))
            free_block(world, blocks[i]);
}

void end_physical(World& world)
{
    auto& mappings = world.model().mappings();
    for (std::size_t i = 0; i < mappings.size(); ++i) {
        const Mapping mapping = mappings[i];
        if (mapping.live && !world.rng().chance(kLeaksThatStay) &&
            CALL(world, cuMemUnmap, CUdeviceptr{mapping.address}, std::size_t{mapping.bytes}) ==
                CUDA_SUCCESS)
            world.model().unmapped(mapping.address, mapping.bytes);
    }
    auto& blocks = world.model().blocks();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        Block& block = blocks[i];
        while (block.live && block.kind == Kind::physical && block.handles > 0 &&
               !world.rng().chance(kLeaksThatStay)) {
            if (CALL(world, cuMemRelease, CUmemGenericAllocationHandle{block.address}) !=
                CUDA_SUCCESS)
                break;
            world.model().released(block);
        }
        if (block.live && block.kind == Kind::shared &&
            CALL(world, cuMemRelease, CUmemGenericAllocationHandle{block.address}) == CUDA_SUCCESS)
            world.freed(block.address, &is<Kind::shared>);
        if (block.live && block.kind == Kind::reservation && !world.rng().chance(kLeaksThatStay) &&
            CALL(world, cuMemAddressFree, CUdeviceptr{block.address}, std::size_t{block.bytes}) ==
                CUDA_SUCCESS)
            world.freed(block.address, &is<Kind::reservation>);
    }
}

void end_external(World& world)
{
    for (Object& object : world.objects())
        if (object.live && object.thing == Thing::external)
            CALL(world, cuDestroyExternalMemory, reinterpret_cast<CUexternalMemory>(object.handle));
}

void end_pools(World& world)
{
    for (int device = 0; device < kDevices; ++device) {
        Out<CUmemoryPool> pool;
        CALL(world, cuDeviceGetDefaultMemPool, pool, device);
        CALL(world, cuDeviceSetMemPool, device, pool.value);
        CALL(world, cuMemPoolTrimTo, pool.value, std::size_t{0});
        CALL(world, cuDeviceGraphMemTrim, device);
    }
    for (Object& object : world.objects())
        if (object.live && object.thing == Thing::pool && !object.is_default)
            CALL(world, cuMemPoolDestroy, reinterpret_cast<CUmemoryPool>(object.handle));
}

void end_contexts(World& world)
{
    auto& objects = world.objects();
#if CUDA_VERSION >= 12040
    for (std::size_t i = 0; i < objects.size(); ++i)
        if (objects[i].live && objects[i].thing == Thing::green)
            CALL(world, cuGreenCtxDestroy, reinterpret_cast<CUgreenCtx>(objects[i].handle));
#endif
    for (std::size_t i = 0; i < objects.size(); ++i)
        if (objects[i].live && objects[i].thing == Thing::context && !objects[i].primary)
            CALL(world, cuCtxDestroy_v2, reinterpret_cast<CUcontext>(objects[i].handle));
    for (int device = 0; device < kDevices; ++device) {
        unsigned& users = world.primary_users[device];
        for (; users > 0; --users)
            CALL(world, cuDevicePrimaryCtxRelease_v2, device);
    }
    if (!world.profile().runtime)
        return;
    for (int device = kDevices; device-- > 0;) {
        CALL(world, cudaSetDevice, device);
        CALL(world, cudaDeviceReset);
    }
    CALL(world, cudaGetLastError);
}

// Frees and waits in every context that is left.
void empty_contexts(World& world)
{
    auto& objects = world.objects();
    bool any = false;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (!objects[i].live || objects[i].thing != Thing::context)
            continue;
        CALL(world, cuCtxSetCurrent, reinterpret_cast<CUcontext>(objects[i].handle));
        if (!any)
            free_blocks(world, &dies_with_context, kLeaksThatContextsTake);
        any = true;
        CALL(world, cuCtxSynchronize);
    }
    if (!any) // what outlives contexts is freed from within one
    {
        Out<CUcontext> context;
        if (CALL(world, cuCtxCreate_v2, context, 0U, 0) == CUDA_SUCCESS)
            world.add(Thing::context, context.value);
    }
    free_blocks(world, &is<Kind::async>, kLeaksThatStay);
    CALL(world, cuCtxSynchronize);
}

} // namespace

void clean_up(World& world, std::uint64_t seed, Relay& relay)
{
    clear_faults();
    world.next(seed);
    world.thread() = 0;
    end_captures(world, relay);
    end_graphs(world);
    relay.stop();
    empty_contexts(world);
    end_physical(world);
    end_external(world);
    end_contexts(world);
    end_pools(world);
    Out<CUcontext> context;
    for (CUresult result = CUDA_SUCCESS; result == CUDA_SUCCESS;)
        result = CALL(world, cuCtxPopCurrent_v2, context);
}

} // namespace differential
