// tests/programs/reuse_race/graphs.cpp — captures, launches, and contexts that end. With the
// world's `order` alone.
#include <algorithm>

#include "tests/programs/reuse_race/actor.hpp"

namespace reuse_race {
namespace {

void let_go(Graph& graph)
{
    for (const BlockPtr& block : graph.blocks)
        --block->graphs;
    graph.blocks.clear();
    graph.launchable = false;
}

void drop(World& world, std::size_t index)
{
    let_go(world.graphs[index]);
    MUST(cuGraphExecDestroy(world.graphs[index].exec));
    world.graphs.erase(world.graphs.begin() + static_cast<std::ptrdiff_t>(index));
}

bool uses(const Graph& graph, unsigned place)
{
    return graph.place == place ||
           std::any_of(graph.blocks.begin(), graph.blocks.end(),
                       [place](const BlockPtr& block) { return block->place == place; });
}

} // namespace

// A node that uses one block of the lane's place.
void Actor::capture_work(const Lane& lane, Graph& graph)
{
    BlockPtr block =
        world_.take(random_, [&](const Block& one) { return one.place == lane.place; });
    if (!block)
        return;
    if (block->filled)
        MUST(cuMemcpyDtoHAsync_v2(world_.sink, block->address, block->part(), lane.stream));
    else if (pick(2) == 0)
        launch_kernel(lane, *block);
    else
        MUST(cuMemsetD8Async(block->address, 0, block->part(), lane.stream));
    ++block->graphs;
    graph.blocks.push_back(block);
    world_.put_back(std::move(block));
}

// What a capture does not allow is refused and breaks it; the block lives on.
void Actor::capture_forbidden(const Lane& lane)
{
    CUdeviceptr address = 0;
    if (BlockPtr block = world_.take(random_, [](const Block& one) { return one.graphs == 0; }))
        world_.free(std::move(block), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    else
        expect(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2(&address, 4096), "cuMemAlloc");
    CUgraph graph = nullptr;
    expect(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(lane.stream, &graph),
           "cuStreamEndCapture");
}

void Actor::capture()
{
    const Lane lane = any_lane();
    if (!lane.owned)
        return;
    constexpr CUstreamCaptureMode kModes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                              CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                              CU_STREAM_CAPTURE_MODE_RELAXED};
    const CUstreamCaptureMode mode = kModes[pick(3)];
    const bool relaxed = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
    Graph made;
    made.place = lane.place;
    MUST(cuStreamBeginCapture_v2(lane.stream, mode));
    ++world_.counts.captures;
    for (unsigned count = pick(4); count > 0; --count) {
        capture_work(lane, made);
        if (relaxed && pick(3) == 0)
            if (BlockPtr block =
                    world_.take(random_, [](const Block& one) { return one.graphs == 0; }))
                world_.free(std::move(block));
        if (relaxed && lane.place != kWorker && pick(2) == 0)
            if (BlockPtr block = world_.allocate(lane.place, 4096))
                world_.put_back(std::move(block));
    }
    if (!relaxed && pick(4) == 0) {
        let_go(made);
        capture_forbidden(lane);
        return;
    }
    CUgraph graph = nullptr;
    MUST(cuStreamEndCapture(lane.stream, &graph));
    MUST(cuGraphInstantiateWithFlags(&made.exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    world_.graphs.push_back(std::move(made));
}

void Actor::launch_graph()
{
    if (world_.graphs.empty())
        return;
    const Graph& graph = world_.graphs[pick(static_cast<unsigned>(world_.graphs.size()))];
    if (!graph.launchable)
        return;
    const Lane& lane = lane_at(graph.place);
    for (const BlockPtr& block : graph.blocks)
        if (block->filled)
            MUST(cuStreamWaitEvent(lane.stream, block->filled, 0));
    MUST(cuGraphLaunch(graph.exec, lane.stream));
    ++world_.counts.launches;
}

// What was launched goes on. Or the graph stays, and is never launched again.
void Actor::drop_graph()
{
    if (world_.graphs.empty())
        return;
    const std::size_t index = pick(static_cast<unsigned>(world_.graphs.size()));
    world_.make_current(world_.graphs[index].place);
    if (pick(3) == 0)
        let_go(world_.graphs[index]);
    else
        drop(world_, index);
}

void change_contexts(World& world, std::vector<Actor*>& actors, std::mt19937& random)
{
    const unsigned place = 1 + static_cast<unsigned>(random() % (kPlaces - 1));
    Place& changed = world.places[place];
    for (std::size_t index = world.graphs.size(); index > 0; --index)
        if (uses(world.graphs[index - 1], place))
            drop(world, index - 1);
    if (changed.allocates) // no work of others may use what goes with it
        world.synchronise_all();
    world.forget(place);
    for (Actor* actor : actors)
        actor->close_lanes(place);
    if (!changed.primary) {
        MUST(cuCtxDestroy_v2(changed.context));
    } else {
        if (random() % 2 == 0)
            MUST(cuDevicePrimaryCtxReset_v2(changed.device));
        MUST(cuDevicePrimaryCtxRelease_v2(changed.device));
    }
    ++world.counts.contexts;
    world.open_context(place);
    for (Actor* actor : actors)
        actor->open_lanes(place);
}

void clean_up(World& world)
{
    world.make_current(0);
    while (!world.graphs.empty())
        drop(world, world.graphs.size() - 1);
    world.synchronise_all();
    std::mt19937 random;
    while (BlockPtr block = world.take(random, [](const Block&) { return true; })) {
        world.make_current(block->place);
        world.verify(*block);
        world.free(std::move(block));
    }
}

} // namespace reuse_race
