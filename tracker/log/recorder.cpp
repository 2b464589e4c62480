// tracker/log/recorder.cpp — allocations and frees: their stack, their place, their bytes.
#include "tracker/log/recorder.hpp"

#include <atomic>

#include "tracker/environment/settings.hpp"
#include "tracker/log/python_recorder.hpp"

namespace vramscope::log {

namespace {

void set_pending_api(Thread& thread, std::uint32_t api_plus_one) noexcept
{
    if (thread.chunk)
        std::atomic_ref(thread.chunk->pending_api).store(api_plus_one, std::memory_order_release);
}

[[gnu::noinline]] bool change_place(Thread& thread, const format::Place& place) noexcept
{
    if (!reserve(thread, format::kMaxHotBytes))
        return false;
    publish(thread, format::encode_place(thread.at, place));
    thread.place = place;
    return true;
}

[[gnu::always_inline]] inline void write_alloc(Thread& thread, const format::Alloc& event,
                                               const format::Place& place) noexcept
{
    // Both at once, so that a new chunk cannot come between a place and its event.
    if (static_cast<std::size_t>(thread.end - thread.at) < 2 * format::kMaxHotBytes &&
        !reserve(thread, 2 * format::kMaxHotBytes))
        return;
    if (thread.place != place && !change_place(thread, place))
        return;
    publish(thread, format::encode_alloc(thread.at, event, thread.deltas));
}

} // namespace

// Flat: these are each event's, and calls below the program's are dear (verified_stacks.hpp).
[[gnu::flatten]] void record_alloc(Thread& thread, format::Alloc& event, const format::Place& place,
                                   const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    event.stack = stack_of(thread, site);
    write_alloc(thread, event, place);
}

void record_object(Thread& thread, format::Alloc& event, const format::Place& place,
                   const CallSite& site) noexcept
{
    note_end_of_python();
    if (event.ticks == 0)
        event.ticks = now();
    record_alloc(thread, event, place, site);
}

void record_alloc_at(Thread& thread, format::Alloc& event, std::uint32_t stack,
                     const format::Place& place) noexcept
{
    if (!has_chunk(thread))
        return;
    event.stack = stack;
    write_alloc(thread, event, place);
}

[[gnu::flatten]] void begin_free(Thread& thread, format::Free& event, const CallSite& site) noexcept
{
    event.ticks = now(); // first: the rest then overlaps with the driver's call
    if (settings().stacks_of_frees && may_have_room(thread)) [[likely]]
        event.stack = stack_of(thread, site);
    if (!thread.chunk)
        return; // the disk is full
    format::ChunkHeader& chunk = *thread.chunk;
    chunk.pending_address = event.address;
    chunk.pending_ticks = event.ticks;
    chunk.pending_stack = static_cast<std::uint32_t>(event.stack);
    set_pending_api(thread, static_cast<std::uint32_t>(event.api + 1));
}

[[gnu::flatten]] void record_free(Thread& thread, const format::Free& event) noexcept
{
    if (reserve(thread, format::kMaxHotBytes))
        publish(thread, format::encode_free(thread.at, event, thread.deltas));
    set_pending_api(thread, 0);
}

void abandon_free(Thread& thread) noexcept
{
    set_pending_api(thread, 0);
}

std::uint32_t record_stack(Thread& thread, const CallSite& site) noexcept
{
    return may_have_room(thread) ? stack_of(thread, site) : 0;
}

} // namespace vramscope::log
