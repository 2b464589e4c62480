// tracker/log/pool_recorder.cpp — the records of the internal pool.
#include "tracker/log/pool_recorder.hpp"

#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/stack_recorder.hpp"

namespace vramscope::log {

using format::Tag;

void record_segment(Thread& thread, std::uint64_t address, std::uint64_t bytes,
                    const format::Place& place) noexcept
{
    Body(thread, Tag::segment, kNumbers)
        .ticks(now())
        .number(address)
        .number(bytes)
        .number(place.context)
        .signed_number(place.device);
}

void record_segment_gone(Thread& thread, std::uint64_t ticks, std::uint64_t address,
                         format::SegmentEnd end) noexcept
{
    Body(thread, Tag::segment_gone, kNumbers)
        .ticks(ticks)
        .number(address)
        .number(static_cast<std::uint64_t>(end));
}

void record_reusable(Thread& thread, std::uint64_t before, bool own) noexcept
{
    const std::uint64_t ticks = now();
    Body(thread, Tag::reusable, kNumbers).ticks(ticks).number(ticks - before).number(own);
}

void record_retried(Thread& thread, std::uint64_t api, int device, std::uint64_t bytes,
                    int result) noexcept
{
    Body(thread, Tag::retried, kNumbers)
        .number(api)
        .ticks(now())
        .signed_number(device)
        .number(bytes)
        .number(static_cast<std::uint64_t>(result));
}

void record_out_of_memory(Thread& thread, std::uint64_t api, const MemoryState& state) noexcept
{
    Body(thread, Tag::out_of_memory, 2 * kNumbers)
        .number(api)
        .ticks(now())
        .signed_number(state.device)
        .number(state.requested)
        .number(state.free)
        .number(state.total)
        .number(state.allocated)
        .number(state.reserved)
        .number(state.largest_gap);
}

void record_device_memory(Thread& thread, std::uint64_t ticks, int device, std::uint64_t free,
                          std::uint64_t total) noexcept
{
    Body(thread, Tag::device_memory, kNumbers)
        .number(ticks)
        .signed_number(device)
        .number(free)
        .number(total);
}

void record_damaged(Thread& thread, const DamagedBlock& damage, const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint32_t stack = stack_of(thread, site);
    Body(thread, Tag::damaged, kNumbers)
        .ticks(now())
        .number(static_cast<std::uint64_t>(damage.kind))
        .number(damage.address)
        .signed_number(damage.offset)
        .number(damage.bytes)
        .number(stack);
}

} // namespace vramscope::log
