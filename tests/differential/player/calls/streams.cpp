// tests/differential/player/calls/streams.cpp — streams, stream-ordered memory, pools and capture.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

std::uint64_t number(const void* pointer)
{
    return reinterpret_cast<std::uint64_t>(pointer);
}

void create_stream(World& world)
{
    Out<CUstream> stream;
    world.maybe_null(stream);
    const auto flags =
        world.rng().one_of<unsigned>({CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING, 0x40});
    if (CALL(world, cuStreamCreate, stream, flags) != CUDA_SUCCESS)
        return;
    const std::uint64_t context = world.current_context();
    world.add(Thing::stream, stream.value).context = context;
}

void destroy_stream(World& world)
{
    const std::uint64_t handle = world.handle(Thing::stream);
    if (CALL(world, cuStreamDestroy_v2, reinterpret_cast<CUstream>(handle)) == CUDA_SUCCESS)
        if (Object* const stream = world.known(Thing::stream, handle))
            stream->live = false;
}

void synchronize_stream(World& world)
{
    CALL(world, cuStreamSynchronize, world.stream());
}

// Leaves something in the queue.
void fill(World& world)
{
    Block* const block = world.live_block({Kind::device, Kind::async});
    if (!block)
        return;
    CUstream stream = world.stream();
    // A pool hides until the next call that waits that work met freed memory: no such work then.
    if (world.profile().pool != Pool::off) {
        if (block->kind != Kind::device || block->context != world.current_context())
            return;
        stream = nullptr;
        block->queued = true;
    }
    CALL(world, cuMemsetD8Async, CUdeviceptr{block->address}, static_cast<unsigned char>(7),
         std::size_t{1}, stream);
}

// A captured allocation is the graph's: recorded, but not to be freed now.
void allocated(World& world, CUresult result, const Out<CUdeviceptr>& block, std::size_t bytes,
               bool captured)
{
    if (result == CUDA_SUCCESS && bytes > 0)
        world.allocated(captured ? Kind::graph : Kind::async, block.value, bytes);
}

void allocate(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream);
    allocated(world, CALL(world, cuMemAllocAsync, block, bytes, stream), block, bytes, captured);
}

void allocate_ptsz(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream, true);
    allocated(world, CALL(world, cuMemAllocAsync_ptsz, block, bytes, stream), block, bytes,
              captured);
}

void allocate_from_pool(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const auto pool = world.handle_as<CUmemoryPool>(Thing::pool);
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream);
    allocated(world, CALL(world, cuMemAllocFromPoolAsync, block, bytes, pool, stream), block, bytes,
              captured);
}

void allocate_from_pool_ptsz(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const auto pool = world.handle_as<CUmemoryPool>(Thing::pool);
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream, true);
    allocated(world, CALL(world, cuMemAllocFromPoolAsync_ptsz, block, bytes, pool, stream), block,
              bytes, captured);
}

void free(World& world)
{
    const CUdeviceptr address = world.pointer({Kind::async, Kind::async, Kind::device});
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream);
    world.settle(address);
    if (CALL(world, cuMemFreeAsync, address, stream) == CUDA_SUCCESS && !captured)
        world.freed(address, &freed_by_address);
}

void free_ptsz(World& world)
{
    const CUdeviceptr address = world.pointer({Kind::async});
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream, true);
    world.settle(address);
    if (CALL(world, cuMemFreeAsync_ptsz, address, stream) == CUDA_SUCCESS && !captured)
        world.freed(address, &freed_by_address);
}

// Memory that was captured: freed in the same capture, as it should be, or elsewhere.
void free_captured(World& world)
{
    const Block* const block = world.live_block({Kind::graph});
    if (!block)
        return;
    const CUstream stream = world.handle_as<CUstream>(Thing::stream);
    if (world.capturing(stream))
        CALL(world, cuMemFreeAsync, CUdeviceptr{block->address}, stream);
}

void create_pool(World& world)
{
    Out<CUmemoryPool> pool;
    world.maybe_null(pool);
    In<CUmemPoolProps> props;
    props.null = world.rng().chance(2);
    props.value.allocType =
        world.rng().chance(95) ? CU_MEM_ALLOCATION_TYPE_PINNED : CU_MEM_ALLOCATION_TYPE_INVALID;
    props.value.handleTypes =
        world.rng().chance(40) ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
    props.value.location = {CU_MEM_LOCATION_TYPE_DEVICE, world.device()};
    if (CALL(world, cuMemPoolCreate, pool, props) == CUDA_SUCCESS)
        world.add(Thing::pool, pool.value).device = props.value.location.id;
}

void default_pool(World& world)
{
    Out<CUmemoryPool> pool;
    world.maybe_null(pool);
    const CUdevice device = world.device();
    const CUresult result = world.rng().chance(50)
                                ? CALL(world, cuDeviceGetDefaultMemPool, pool, device)
                                : CALL(world, cuDeviceGetMemPool, pool, device);
    if (result != CUDA_SUCCESS || world.known(Thing::pool, number(pool.value)))
        return;
    Object& made = world.add(Thing::pool, pool.value);
    made.is_default = true;
    made.device = device;
}

void choose_pool(World& world)
{
    const CUdevice device = world.device();
    CALL(world, cuDeviceSetMemPool, device, world.handle_as<CUmemoryPool>(Thing::pool));
}

void destroy_pool(World& world)
{
    const std::uint64_t handle = world.handle(Thing::pool);
    if (CALL(world, cuMemPoolDestroy, reinterpret_cast<CUmemoryPool>(handle)) == CUDA_SUCCESS)
        if (Object* const pool = world.known(Thing::pool, handle))
            pool->live = false;
}

void trim_pool(World& world)
{
    CALL(world, cuMemPoolTrimTo, world.handle_as<CUmemoryPool>(Thing::pool),
         world.rng().chance(50) ? std::size_t{0} : world.small_size());
}

void pool_counters(World& world)
{
    Out<std::uint64_t> value;
    world.maybe_null(value);
    const auto attribute =
        world.rng().one_of({CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
                            CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD});
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ||
        attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        value.meaning = Meaning::pools_choice;
    CALL(world, cuMemPoolGetAttribute, world.handle_as<CUmemoryPool>(Thing::pool), attribute,
         value);
}

void begin_capture(World& world)
{
    const auto mode =
        world.rng().one_of({CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED,
                            CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL});
    const std::uint64_t handle = world.handle(Thing::stream);
    if (CALL(world, cuStreamBeginCapture_v2, reinterpret_cast<CUstream>(handle), mode) !=
        CUDA_SUCCESS)
        return;
    if (Object* const stream = world.known(Thing::stream, handle)) {
        stream->capturing = true;
        stream->thread = world.thread();
    }
}

void end_capture(World& world)
{
    Out<CUgraph> graph;
    world.maybe_null(graph);
    const auto handle = world.handle(Thing::stream);
    if (CALL(world, cuStreamEndCapture, reinterpret_cast<CUstream>(handle), graph) == CUDA_SUCCESS)
        world.add(Thing::graph, graph.value);
}

constexpr Operation kOperations[] = {
    {6, &create_stream},
    {2, &destroy_stream},
    {2, &synchronize_stream},
    {2, &fill},
    {6, &allocate},
    {4, &allocate_ptsz},
    {4, &allocate_from_pool},
    {3, &allocate_from_pool_ptsz},
    {7, &free},
    {6, &free_ptsz},
    {1, &free_captured},
    {2, &create_pool},
    {2, &default_pool},
    {1, &choose_pool},
    {1, &destroy_pool},
    {1, &trim_pool},
    {2, &pool_counters},
    {1, &begin_capture},
    {3, &end_capture},
};

} // namespace

std::span<const Operation> stream_operations()
{
    return kOperations;
}

} // namespace differential
