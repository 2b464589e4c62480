// tests/programs/reuse_race/actor.cpp — steps with memory: allocate, use, free.
#include "tests/programs/reuse_race/actor.hpp"

#include <algorithm>

namespace reuse_race {
namespace {

// Few, so that a freed block fits the next request: small and large, alone and not in a granule.
constexpr std::size_t kSizes[] = {512, 4096, 65536, std::size_t{1} << 20, std::size_t{3} << 20};
constexpr std::size_t kMostBlocks = 40;

bool is_scratch(const Block& block)
{
    return !block.filled;
}

} // namespace

Actor::Actor(World& world, unsigned number) : world_(world), number_(number)
{
    for (unsigned place = 0; place < kPlaces; ++place)
        open_lanes(place);
}

void Actor::begin(unsigned seed)
{
    random_.seed(seed * 16 + number_);
    where = {seed, number_, 0};
}

void Actor::open_lanes(unsigned place)
{
    lanes_.push_back({nullptr, place, false});
    lanes_.push_back({CU_STREAM_PER_THREAD, place, false});
    world_.make_current(place);
    for (const unsigned flags : {0u, 1u, 1u}) {
        Lane lane{nullptr, place, true};
        MUST(cuStreamCreate(&lane.stream, flags));
        lanes_.push_back(lane);
    }
}

void Actor::close_lanes(unsigned place)
{
    std::erase_if(lanes_, [place](const Lane& lane) { return lane.place == place; });
}

const Lane& Actor::enter_lane(const Lane& lane)
{
    world_.make_current(lane.place);
    return lane;
}

const Lane& Actor::any_lane()
{
    return enter_lane(lanes_[pick(static_cast<unsigned>(lanes_.size()))]);
}

const Lane& Actor::lane_at(unsigned place)
{
    for (;;) {
        const Lane& lane = lanes_[pick(static_cast<unsigned>(lanes_.size()))];
        if (lane.place == place)
            return enter_lane(lane);
    }
}

void Actor::step()
{
    ++where.step;
    ++world_.counts.operations;
    const unsigned kind = pick(100);
    if (kind >= 88) { // captures forbid others what they do, and graphs are no two threads' at once
        const std::unique_lock alone(world_.order);
        if (kind < 91)
            capture();
        else if (kind < 97)
            launch_graph();
        else if (kind < 99)
            drop_graph();
        else
            enable_peer();
        return;
    }
    const std::shared_lock beside(world_.order);
    if (kind < 28)
        allocate();
    else if (kind < 58)
        use();
    else if (kind < 78)
        free_now();
    else if (kind < 80)
        free_in_order();
    else if (kind < 84)
        wait_for_others();
    else if (kind < 85)
        change_lane();
    else
        synchronise();
}

void Actor::allocate()
{
    if (world_.block_count() >= kMostBlocks) {
        free_now();
        return;
    }
    const unsigned place = pick(kWorker);
    world_.make_current(place);
    BlockPtr block = world_.allocate(place, kSizes[pick(std::size(kSizes))]);
    if (!block)
        return;
    if (pick(2) == 0) {
        const Lane& lane = lane_at(place);
        block->value = static_cast<unsigned char>(1 + pick(255));
        MUST(cuEventCreate(&block->filled, CU_EVENT_DISABLE_TIMING));
        MUST(cuMemsetD8Async(block->address, block->value, block->part(), lane.stream));
        MUST(cuEventRecord(block->filled, lane.stream));
    }
    world_.put_back(std::move(block));
}

void Actor::use()
{
    BlockPtr block = world_.take(random_, [](const Block&) { return true; });
    if (!block)
        return;
    const Lane& lane = pick(3) != 0 ? lane_at(block->place) : any_lane();
    if (block->filled && pick(2) == 0)
        MUST(cuStreamWaitEvent(lane.stream, block->filled, 0));
    if (lane.place == block->place)
        use_in(lane, *block);
    else
        use_abroad(lane, *block);
    world_.put_back(std::move(block));
}

void Actor::launch_kernel(const Lane& lane, const Block& block)
{
    CUdeviceptr address = block.address;
    std::size_t bytes = block.bytes;
    void* arguments[] = {&address, &bytes};
    MUST(cuLaunchKernel(world_.places[lane.place].kernel, 1, 1, 1, 32, 1, 1, 0, lane.stream,
                        arguments, nullptr));
}

void Actor::use_in(const Lane& lane, Block& block)
{
    const std::size_t bytes = block.part() / (1 + pick(4));
    const CUdeviceptr address = block.address + (block.bytes - bytes) / 2;
    switch (pick(is_scratch(block) ? 7 : 4)) {
    case 0:
        launch_kernel(lane, block);
        break;
    case 1:
        MUST(cuMemcpyDtoHAsync_v2(world_.sink, address, bytes, lane.stream));
        break;
    case 2:
        copy_to_scratch(lane, block);
        break;
    case 3: {
        char pageable[64];
        MUST(cuMemcpyDtoHAsync_v2(pageable, address, sizeof pageable, lane.stream));
        break;
    }
    case 4:
        MUST(cuMemsetD8Async(address, 0, bytes, lane.stream));
        break;
    case 5:
        MUST(cuMemsetD2D8Async(block.address, 128, 0, 64, block.part() / 128, lane.stream));
        break;
    default:
        MUST(cuMemcpyHtoDAsync_v2(address, world_.sink, bytes, lane.stream));
    }
}

// By a stream of another context: kernels need peer access, cuMemcpyPeer does not.
void Actor::use_abroad(const Lane& lane, Block& block)
{
    const Place& here = world_.places[lane.place];
    if ((here.peers >> block.place & 1) != 0 && pick(2) == 0)
        launch_kernel(lane, block);
    else
        copy_to_scratch(lane, block);
}

void Actor::copy_to_scratch(const Lane& lane, const Block& from)
{
    BlockPtr to = world_.take(random_, is_scratch);
    if (!to)
        return;
    const std::size_t bytes = std::min(to->part(), from.part());
    const CUcontext to_context = world_.places[to->place].context;
    const CUcontext from_context = world_.places[from.place].context;
    if (to->place != lane.place || from.place != lane.place) {
        MUST(cuMemcpyPeerAsync(to->address, to_context, from.address, from_context, bytes,
                               lane.stream));
    } else if (pick(3) == 0) {
        CUDA_MEMCPY2D rows{};
        rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        rows.srcDevice = from.address;
        rows.dstDevice = to->address;
        rows.srcPitch = rows.dstPitch = 256;
        rows.WidthInBytes = 100;
        rows.Height = bytes / 256;
        MUST(cuMemcpy2DAsync_v2(&rows, lane.stream));
#if CUDA_VERSION >= 13000
    } else if (lane.stream && pick(2) == 0) {
        CUdeviceptr targets[] = {to->address, to->address + bytes / 2};
        CUdeviceptr sources[] = {from.address, from.address + bytes / 2};
        std::size_t sizes[] = {bytes / 2, bytes / 2};
        CUmemcpyAttributes attributes{};
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        std::size_t first = 0;
        MUST(
            cuMemcpyBatchAsync_v2(targets, sources, sizes, 2, &attributes, &first, 1, lane.stream));
#endif
    } else {
        MUST(cuMemcpyDtoDAsync_v2(to->address, from.address, bytes, lane.stream));
    }
    world_.put_back(std::move(to));
}

void Actor::free_now()
{
    BlockPtr block = world_.take(random_, [](const Block& one) { return one.graphs == 0; });
    if (!block)
        return;
    world_.make_current(pick(4) != 0 ? block->place : pick(kPlaces));
    if (pick(4) == 0)
        world_.verify(*block);
    world_.free(std::move(block));
}

// In a stream that comes after all that uses the block.
void Actor::free_in_order()
{
    BlockPtr block = world_.take(random_, [](const Block& one) { return one.graphs == 0; });
    if (!block)
        return;
    const Lane lane = lane_at(block->place);
#if CUDA_VERSION >= 12050
    for (unsigned place = 0; place < kPlaces; ++place) {
        CUevent all = nullptr;
        world_.make_current(place);
        MUST(cuEventCreate(&all, CU_EVENT_DISABLE_TIMING));
        MUST(cuCtxRecordEvent(world_.places[place].context, all));
        enter_lane(lane);
        MUST(cuStreamWaitEvent(lane.stream, all, 0));
        MUST(cuEventDestroy_v2(all));
    }
#else
    world_.synchronise_all();
    enter_lane(lane);
#endif
    world_.free_in_order(std::move(block), lane.stream);
}

} // namespace reuse_race
