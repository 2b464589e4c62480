// interpose/serve/recording.cpp — the events of allocations, and of frees that failed.
#include "interpose/serve/recording.hpp"

#include "interpose/serve/device_memory.hpp"

namespace vramscope::hooks {
namespace {

format::Alloc allocation(Call& call, std::uint64_t ticks, std::uint64_t address,
                         std::uint64_t bytes)
{
    format::Alloc event{};
    event.api = call.api();
    event.ticks = ticks;
    event.address = address;
    event.bytes = bytes;
    return event;
}

} // namespace

void record_allocation(Call& call, std::uint64_t address, std::uint64_t bytes,
                       const format::Place& place)
{
    const std::uint64_t ticks = call.ended ? call.ended : log::now();
    log::record_alloc(call.thread, allocation(call, ticks, address, bytes), place, call.site);
    allocated_by_driver(call, place, ticks);
}

void record_pooled(Call& call, std::uint64_t address, std::uint64_t bytes,
                   const format::Place& place, std::uint64_t slack)
{
    // Not the driver call's time: its segment's record came after that.
    format::Alloc event = allocation(call, log::now(), address, bytes);
    event.pooled = true;
    event.slack = slack;
    log::record_alloc(call.thread, event, place, call.site);
}

void record_bad_free(Call& call, CUresult result, std::uint64_t address)
{
    const bool expected =
        result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED;
    if (!expected && call.ready())
        log::write_with_stack(call.thread, call.site, call.api(), format::Failed{result, address});
}

} // namespace vramscope::hooks
