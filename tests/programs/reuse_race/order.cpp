// tests/programs/reuse_race/order.cpp — steps that wait, or make streams and contexts wait.
#include "tests/programs/reuse_race/actor.hpp"

namespace reuse_race {
namespace {

CUevent open_event()
{
    CUevent event = nullptr;
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

void ready_or_not(CUresult result, const char* call)
{
    if (result != CUDA_ERROR_NOT_READY)
        expect(CUDA_SUCCESS, result, call);
}

} // namespace

void Actor::synchronise()
{
    const Lane& lane = any_lane();
    CUevent event = nullptr;
    switch (pick(7)) {
    case 0:
        MUST(cuCtxSynchronize());
        return;
    case 1:
        MUST(cuStreamSynchronize(lane.stream));
        return;
    case 2:
        event = open_event();
        MUST(cuEventRecord(event, lane.stream));
        MUST(cuEventSynchronize(event));
        break;
    case 3:
        event = open_event();
        MUST(cuEventRecord(event, lane.stream));
        ready_or_not(cuEventQuery(event), "cuEventQuery");
        break;
    case 4:
        ready_or_not(cuStreamQuery(lane.stream), "cuStreamQuery");
        return;
#if CUDA_VERSION >= 13000
    case 5:
        MUST(cuCtxSynchronize_v2(world_.places[pick(kPlaces)].context));
        return;
#endif
#if CUDA_VERSION >= 12050
    case 6:
        event = open_event();
        MUST(cuCtxRecordEvent(world_.places[lane.place].context, event));
        MUST(cuEventSynchronize(event));
        break;
#endif
    default: {
        BlockPtr block =
            world_.take(random_, [&](const Block& one) { return one.place == lane.place; });
        if (!block)
            return;
        char byte = 0;
        MUST(cuMemcpyDtoH_v2(&byte, block->address, 1));
        world_.put_back(std::move(block));
        return;
    }
    }
    MUST(cuEventDestroy_v2(event));
}

void Actor::wait_for_others()
{
    const Lane from = any_lane();
    const CUevent event = open_event();
    MUST(cuEventRecord(event, from.stream));
    const Lane to = any_lane();
#if CUDA_VERSION >= 12050
    if (pick(4) == 0)
        MUST(cuCtxWaitEvent(world_.places[to.place].context, event));
    else
#endif
        MUST(cuStreamWaitEvent(to.stream, event, 0));
    MUST(cuEventDestroy_v2(event));
}

// The old stream's work goes on without it.
void Actor::change_lane()
{
    Lane& lane = lanes_[pick(static_cast<unsigned>(lanes_.size()))];
    if (!lane.owned)
        return;
    enter_lane(lane);
    MUST(cuStreamDestroy_v2(lane.stream));
    MUST(cuStreamCreate(&lane.stream, pick(3) == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
}

void Actor::enable_peer()
{
    const unsigned user = pick(kPlaces);
    const unsigned owner = pick(kWorker);
    Place& place = world_.places[user];
    if (place.device == world_.places[owner].device || (place.peers >> owner & 1) != 0)
        return;
    world_.make_current(user);
    MUST(cuCtxEnablePeerAccess(world_.places[owner].context, 0));
    place.peers |= 1U << owner;
}

} // namespace reuse_race
