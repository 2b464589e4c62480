// tracker/log/recorder.cpp — one function per event: its stack, its place, its bytes.
#include "tracker/log/recorder.hpp"

#include <atomic>
#include <cstring>
#include <sys/mman.h>

#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/lifecycle.hpp"
#include "tracker/log/nesting.hpp"
#include "tracker/log/settings.hpp"
#include "tracker/log/stack_recorder.hpp"

namespace vramscope::log {

using format::Lost;
using format::Tag;

thread_local constinit Thread this_thread{};

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

} // namespace

void count_lost(Lost reason) noexcept
{
    if (process->generation)
        std::atomic_ref(process->header->lost[static_cast<std::size_t>(reason)])
            .fetch_add(1, std::memory_order_relaxed);
}

void record_alloc(Thread& thread, const format::Alloc& event, const format::Place& place,
                  const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    format::Alloc alloc = event;
    alloc.stack = stack_of(thread, site);
    // Both at once, so that a new chunk cannot come between a place and its event.
    if (static_cast<std::size_t>(thread.end - thread.at) < 2 * format::kMaxHotBytes &&
        !reserve(thread, 2 * format::kMaxHotBytes))
        return;
    if (thread.place != place && !change_place(thread, place))
        return;
    publish(thread, format::encode_alloc(thread.at, alloc, thread.deltas));
}

void begin_free(Thread& thread, format::Free& event, const CallSite& site) noexcept
{
    if (settings().stacks_of_frees && has_chunk(thread))
        event.stack = stack_of(thread, site);
    event.ticks = now();
    if (!thread.chunk)
        return; // the disk is full
    format::ChunkHeader& chunk = *thread.chunk;
    chunk.pending_address = event.address;
    chunk.pending_ticks = event.ticks;
    chunk.pending_stack = static_cast<std::uint32_t>(event.stack);
    set_pending_api(thread, static_cast<std::uint32_t>(event.api + 1));
}

void record_free(Thread& thread, const format::Free& event) noexcept
{
    if (reserve(thread, format::kMaxHotBytes))
        publish(thread, format::encode_free(thread.at, event, thread.deltas));
    set_pending_api(thread, 0);
}

void abandon_free(Thread& thread) noexcept
{
    set_pending_api(thread, 0);
}

void record_failure(Thread& thread, std::uint64_t api, int result, std::uint64_t address,
                    std::uint64_t bytes, const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint32_t stack = stack_of(thread, site);
    Body(thread, Tag::failed, kNumbers)
        .number(api)
        .ticks(now())
        .number(static_cast<std::uint64_t>(result))
        .number(address)
        .number(bytes)
        .number(stack);
}

void record_map(Thread& thread, std::uint64_t api, std::uint64_t address, std::uint64_t bytes,
                std::uint64_t handle, const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint64_t ticks = now();
    const std::uint32_t stack = stack_of(thread, site);
    Body(thread, Tag::map, kNumbers)
        .number(api)
        .ticks(ticks)
        .number(address)
        .number(bytes)
        .number(handle)
        .number(stack);
}

void record_unmap(Thread& thread, std::uint64_t api, std::uint64_t ticks, std::uint64_t address,
                  std::uint64_t bytes) noexcept
{
    Body(thread, Tag::unmap, kNumbers).number(api).ticks(ticks).number(address).number(bytes);
}

void record_retain(Thread& thread, std::uint64_t api, std::uint64_t handle) noexcept
{
    Body(thread, Tag::retain, kNumbers).number(api).ticks(now()).number(handle);
}

void record_shared(Thread& thread, std::uint64_t api, std::uint64_t address,
                   const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint32_t stack = stack_of(thread, site);
    Body(thread, Tag::shared, kNumbers).number(api).ticks(now()).number(address).number(stack);
}

void record_trim(Thread& thread, std::uint64_t api, std::uint64_t pool, std::uint64_t keep_bytes,
                 const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint32_t stack = stack_of(thread, site);
    Body(thread, Tag::trim, kNumbers)
        .number(api)
        .ticks(now())
        .number(pool)
        .number(keep_bytes)
        .number(stack);
}

void record_pool(Thread& thread, const Pool& pool) noexcept
{
    Body(thread, Tag::pool, kNumbers)
        .number(pool.handle)
        .signed_number(pool.location_type)
        .signed_number(pool.location)
        .number(pool.managed);
}

void record_context(Thread& thread, std::uint64_t id, std::uint64_t handle, int device,
                    bool primary) noexcept
{
    Body(thread, Tag::context, kNumbers)
        .number(id)
        .number(handle)
        .signed_number(device)
        .number(primary);
}

void record_context_gone(Thread& thread, std::uint64_t api, std::uint64_t ticks, std::uint64_t id,
                         std::uint32_t stack) noexcept
{
    Body(thread, Tag::context_gone, kNumbers).number(api).ticks(ticks).number(id).number(stack);
}

std::uint32_t record_stack(Thread& thread, const CallSite& site) noexcept
{
    return has_chunk(thread) ? stack_of(thread, site) : 0;
}

void record_device(Thread& thread, int ordinal, std::uint64_t total_bytes,
                   std::string_view name) noexcept
{
    Body(thread, Tag::device, kNumbers + text_bytes(name))
        .number(static_cast<std::uint64_t>(ordinal))
        .number(total_bytes)
        .text(name);
}

void record_info(Thread& thread, std::string_view key, std::string_view value) noexcept
{
    Body(thread, Tag::info, text_bytes(key) + text_bytes(value)).text(key).text(value);
}

void record_api(Thread& thread, std::uint64_t id, const Api& api) noexcept
{
    Body(thread, Tag::api, kNumbers + text_bytes(api.name))
        .number(id)
        .number(static_cast<std::uint64_t>(api.effect))
        .number(static_cast<std::uint64_t>(api.memory))
        .text(api.name);
}

void record_thread(Thread& thread, std::uint32_t index, std::uint32_t tid,
                   std::string_view name) noexcept
{
    Body(thread, Tag::thread, kNumbers + text_bytes(name)).number(index).number(tid).text(name);
}

void record_range(Thread& thread, std::string_view name) noexcept
{
    Body(thread, Tag::range_push, kNumbers + text_bytes(name)).ticks(now()).text(name);
}

void record_driver_time(Thread& thread, std::uint64_t ticks, const DriverTime& time) noexcept
{
    Body(thread, Tag::driver_time, kNumbers)
        .number(ticks)
        .number(time.api)
        .number(time.calls)
        .number(time.ticks)
        .number(time.longest);
}

// A range or a mark of a thread that is inside a hook (a signal handler's) is not worth a torn
// record.
void push_range(std::string_view name) noexcept
{
    Thread& thread = this_thread;
    if (!is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    thread.inside = Inside::recorder;
    if (is_ready(thread)) {
        record_range(thread, name);
    } else {
        Lifecycle::make_room_for_pending(thread);
        thread.pending.push(name);
    }
    thread.inside = Inside::program;
}

void pop_range() noexcept
{
    Thread& thread = this_thread;
    if (!is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    thread.inside = Inside::recorder;
    if (is_ready(thread))
        Body(thread, Tag::range_pop, kNumbers).ticks(now());
    else
        thread.pending.pop();
    thread.inside = Inside::program;
}

void mark(std::string_view name) noexcept
{
    Thread& thread = this_thread;
    if (!process->generation ||
        !is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    thread.inside = Inside::recorder;
    if (is_ready(thread) || Lifecycle::join(thread))
        Body(thread, Tag::mark, kNumbers + text_bytes(name)).ticks(now()).text(name);
    thread.inside = Inside::program;
}

void PendingRanges::give_room_back() noexcept
{
    if (bytes_)
        ::munmap(bytes_, kBytes);
    *this = {};
}

void PendingRanges::push(std::string_view name) noexcept
{
    name = name.substr(0, 255);
    if (unnamed_ || !bytes_ || used_ + name.size() + 2 > kBytes) {
        ++unnamed_;
        return;
    }
    bytes_[used_] = static_cast<char>(name.size());
    std::memcpy(bytes_ + used_ + 1, name.data(), name.size());
    bytes_[used_ + 1 + name.size()] = static_cast<char>(name.size());
    used_ += static_cast<std::uint32_t>(name.size() + 2);
}

void PendingRanges::pop() noexcept
{
    if (unnamed_)
        --unnamed_;
    else if (used_)
        used_ -= static_cast<std::uint8_t>(bytes_[used_ - 1]) + 2u;
}

} // namespace vramscope::log
