// interpose/serve/pools/driver_upstream.cpp — cuMemAlloc and cuMemFree, as the pool calls them.
#include "interpose/serve/pools/driver_upstream.hpp"

#include "interpose/hooks/current_context.hpp"
#include "interpose/hooks/inside_driver.hpp"
#include "interpose/serve/contexts/device_memory.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"
#include "interpose/serve/pools/damage.hpp"
#include "interpose/serve/pools/shortage.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

format::SegmentEnd end_of(pool::Release why) noexcept
{
    switch (why) {
    case pool::Release::surplus:
        return format::SegmentEnd::surplus;
    case pool::Release::collected:
        return format::SegmentEnd::collected;
    case pool::Release::pressure:
        return format::SegmentEnd::pressure;
    case pool::Release::asked:
        break;
    }
    return format::SegmentEnd::asked;
}

} // namespace

int DriverUpstream::allocate(std::uint64_t bytes, pool::Address& out) noexcept
{
    const auto real =
        reinterpret_cast<decltype(&::cuMemAlloc_v2)>(real_function(Hook::cuMemAlloc_v2));
    if (!real)
        return CUDA_ERROR_NOT_FOUND;
    out = 0;
    if (!within_limit(bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    log::Thread& thread = log::this_thread;
    CUdeviceptr address = kUntouched;
    const CUresult result =
        timed_in_driver(thread, Hook::cuMemAlloc_v2, [&] { return real(&address, bytes); });
    out = address;
    if (result != CUDA_SUCCESS)
        return result;
    log::write(thread, {log::now()},
               format::Segment{address, bytes, place_.context, place_.device});
    poison_segment(thread, address, bytes);
    segment_taken(thread, place_.device);
    return CUDA_SUCCESS;
}

int DriverUpstream::release(pool::Address address, pool::Release why) noexcept
{
    const auto real =
        reinterpret_cast<decltype(&::cuMemFree_v2)>(real_function(Hook::cuMemFree_v2));
    if (!real)
        return CUDA_ERROR_NOT_FOUND;
    log::Thread& thread = log::this_thread;
    const std::uint64_t ticks = log::now();
    const ContextMadeCurrent current(Driver::find(), context_);
    const CUresult result =
        timed_in_driver(thread, Hook::cuMemFree_v2, [&] { return real(address); });
    if (result == CUDA_SUCCESS)
        log::write(thread, {ticks}, format::SegmentGone{address, end_of(why)});
    return result;
}

int DriverUpstream::synchronise() noexcept
{
    return synchronise_all(log::this_thread);
}

void DriverUpstream::make_room() noexcept
{
    give_back(place_.device, this);
}

pool::Traffic DriverUpstream::traffic() noexcept
{
    return traffic_of(place_.device);
}

void DriverUpstream::pause(int tries) noexcept
{
    let_others_go_on(tries);
}

} // namespace vramscope::hooks
