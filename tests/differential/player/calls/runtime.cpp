// tests/differential/player/calls/runtime.cpp — the CUDA runtime, with its own doors to the driver.
#include <cuda_runtime_api.h>

#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

std::uint64_t number(const void* pointer)
{
    return reinterpret_cast<std::uint64_t>(pointer);
}

void* some_pointer(World& world)
{
    return reinterpret_cast<void*>(
        world.pointer({Kind::device, Kind::pitched, Kind::managed, Kind::async}));
}

void allocate(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    if (CALL(world, cudaMalloc, block, bytes) == cudaSuccess && bytes > 0)
        world.allocated(Kind::device, number(block.value), bytes);
}

void allocate_pitch(World& world)
{
    Out<void*> block(Meaning::address);
    Out<std::size_t> pitch;
    world.maybe_null(block);
    world.maybe_null(pitch);
    const std::size_t width = world.rng().below(3000);
    const std::size_t height = world.rng().below(100);
    if (CALL(world, cudaMallocPitch, block, pitch, width, height) == cudaSuccess && width > 0 &&
        height > 0)
        world.allocated(Kind::pitched, number(block.value), pitch.value * height);
}

void allocate_managed(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    if (CALL(world, cudaMallocManaged, block, bytes, 1U) == cudaSuccess)
        world.allocated(Kind::managed, number(block.value), bytes);
}

void free(World& world)
{
    void* const pointer = some_pointer(world);
    if (CALL(world, cudaFree, pointer) == cudaSuccess)
        world.freed(number(pointer), &freed_by_address);
}

void allocate_host(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const cudaError_t result = world.rng().chance(50)
                                   ? CALL(world, cudaMallocHost, block, bytes)
                                   : CALL(world, cudaHostAlloc, block, bytes, 1U);
    if (result == cudaSuccess && bytes > 0)
        world.allocated(Kind::pinned, number(block.value), bytes);
}

void free_host(World& world)
{
    const std::uint64_t address = world.pointer({Kind::pinned});
    if (CALL(world, cudaFreeHost, reinterpret_cast<void*>(address)) == cudaSuccess)
        world.freed(address, &is<Kind::pinned>);
}

void register_host(World& world)
{
    unsigned char* const start = scratch() + world.rng().below(40) * 4096;
    const std::size_t bytes = world.rng().below(9000);
    if (CALL(world, cudaHostRegister, start, bytes, 0U) == cudaSuccess)
        world.allocated(Kind::registered, number(start), bytes);
}

void unregister_host(World& world)
{
    const std::uint64_t address = world.pointer({Kind::registered});
    if (CALL(world, cudaHostUnregister, reinterpret_cast<void*>(address)) == cudaSuccess)
        world.freed(address, &is<Kind::registered>);
}

void allocate_array(World& world)
{
    Out<cudaArray_t> array;
    world.maybe_null(array);
    In<cudaChannelFormatDesc> channels;
    channels.null = world.rng().chance(3);
    channels.value = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    const std::size_t width = world.rng().below(200);
    const std::size_t height = world.rng().below(20);
    if (CALL(world, cudaMallocArray, array, channels, width, height, 0U) == cudaSuccess)
        world.allocated(Kind::array, number(array.value),
                        width * (height > 0 ? height : 1) * sizeof(float), 1);
}

void free_array(World& world)
{
    const std::uint64_t handle = world.pointer({Kind::array});
    if (CALL(world, cudaFreeArray, reinterpret_cast<cudaArray_t>(handle)) == cudaSuccess)
        world.freed(handle, &is<Kind::array>);
}

// Whether a stream is captured is asked after the call, which may have made a context current.
void allocate_async(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const CUstream stream = world.stream();
    if (CALL(world, cudaMallocAsync, block, bytes, stream) == cudaSuccess && bytes > 0)
        world.allocated(world.capturing(stream) ? Kind::graph : Kind::async, number(block.value),
                        bytes);
}

void allocate_from_pool(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const auto pool = world.handle_as<cudaMemPool_t>(Thing::pool);
    const CUstream stream = world.stream();
    if (CALL(world, cudaMallocFromPoolAsync, block, bytes, pool, stream) == cudaSuccess &&
        bytes > 0)
        world.allocated(world.capturing(stream) ? Kind::graph : Kind::async, number(block.value),
                        bytes);
}

void free_async(World& world)
{
    void* const pointer = some_pointer(world);
    const CUstream stream = world.stream();
    world.settle(number(pointer));
    if (CALL(world, cudaFreeAsync, pointer, stream) == cudaSuccess && !world.capturing(stream))
        world.freed(number(pointer), &freed_by_address);
}

void create_stream(World& world)
{
    Out<cudaStream_t> stream;
    world.maybe_null(stream);
    if (CALL(world, cudaStreamCreateWithFlags, stream, 1U) != cudaSuccess)
        return;
    const std::uint64_t context = world.current_context();
    world.add(Thing::stream, stream.value).context = context;
}

void destroy_stream(World& world)
{
    const std::uint64_t handle = world.handle(Thing::stream);
    if (CALL(world, cudaStreamDestroy, reinterpret_cast<cudaStream_t>(handle)) == cudaSuccess)
        if (Object* const stream = world.known(Thing::stream, handle))
            stream->live = false;
}

void begin_capture(World& world)
{
    const std::uint64_t handle = world.handle(Thing::stream);
    if (CALL(world, cudaStreamBeginCapture, reinterpret_cast<cudaStream_t>(handle),
             cudaStreamCaptureModeRelaxed) != cudaSuccess)
        return;
    if (Object* const stream = world.known(Thing::stream, handle)) {
        stream->capturing = true;
        stream->thread = world.thread();
    }
}

void end_capture(World& world)
{
    Out<cudaGraph_t> graph;
    world.maybe_null(graph);
    if (CALL(world, cudaStreamEndCapture, world.handle_as<cudaStream_t>(Thing::stream), graph) ==
        cudaSuccess)
        world.add(Thing::graph, graph.value);
}

void set_device(World& world)
{
    CALL(world, cudaSetDevice, world.device());
    world.current_context();
}

void reset_device(World& world)
{
    CALL(world, cudaDeviceReset);
}

void synchronize(World& world)
{
    CALL(world, cudaDeviceSynchronize);
}

void memory_info(World& world)
{
    Out<std::size_t> free(Meaning::pools_choice), total;
    world.maybe_null(free);
    world.maybe_null(total);
    CALL(world, cudaMemGetInfo, free, total);
}

void last_error(World& world)
{
    CALL(world, cudaGetLastError);
}

constexpr Operation kOperations[] = {
    {30, &allocate},      {5, &allocate_pitch}, {8, &allocate_managed}, {35, &free},
    {8, &allocate_host},  {8, &free_host},      {4, &register_host},    {4, &unregister_host},
    {4, &allocate_array}, {4, &free_array},     {12, &allocate_async},  {4, &allocate_from_pool},
    {14, &free_async},    {5, &create_stream},  {2, &destroy_stream},   {1, &begin_capture},
    {2, &end_capture},    {4, &set_device},     {2, &reset_device},     {2, &synchronize},
    {5, &memory_info},    {3, &last_error},
};

} // namespace

std::span<const Operation> runtime_operations()
{
    return kOperations;
}

} // namespace differential
