// tracker/lifecycle/lifecycle.cpp — open, join, leave, end.
#include "tracker/lifecycle/lifecycle.hpp"

#include <mutex>
#include <pthread.h>
#include <unistd.h>

#include "tracker/capture/glibc.hpp"
#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/capture/signals.hpp"
#include "tracker/capture/unwinder.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/environment/tell.hpp"
#include "tracker/lifecycle/description.hpp"
#include "tracker/lifecycle/opening.hpp"
#include "tracker/lifecycle/tests.hpp"
#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/driver_times.hpp"
#include "tracker/log/origins.hpp"
#include "tracker/log/stack_recorder.hpp"

namespace vramscope::log {
namespace {

// It survives a fork, and tells the child that the tables are those of its parent.
constinit std::atomic<pid_t> opened_by{0};
constinit pthread_key_t end_key{};
constinit bool end_key_made = false;
constinit capture::Lock opening_lock;

// The caller holds the opening lock. To be called before any thread is watched.
void make_end_key() noexcept
{
    if (!end_key_made)
        end_key_made = ::pthread_key_create(
                           &end_key, [](void* state) { leave(*static_cast<Thread*>(state)); }) == 0;
}

void watch_end(Thread& thread) noexcept
{
    if (!thread.end_watched && end_key_made)
        thread.end_watched = ::pthread_setspecific(end_key, &thread) == 0;
}

void watch_exits() noexcept
{
    if (opened_by)
        return; // inherited from the parent with everything else
    ::on_exit([](int status, void*) { exit_began(status); }, nullptr);
    ::__cxa_at_quick_exit([](void*) { ended(format::End::quick_exit, 0); }, &__dso_handle);
}

// The caller holds the opening lock. What a fork left in our tables is the parent's.
void forget_parent() noexcept
{
    forget_process_of_parent();
    forget_python_of_parent();
    forget_origins_of_parent();
}

// The caller holds the opening lock. False: this process has no log.
bool open_for_process() noexcept
{
    if (!process.move_to_page() || process->off)
        return false;
    if (process->generation)
        return true;
    if (opened_by)
        forget_parent();
    if (capture::objects_locked_for_ever())
        tell("another thread held the loader's lock when this process was forked: its "
             "events have no stacks");
    for (const char* line : {settings().complaint, settings().without_effect})
        if (*line)
            tell("%s", line);
    if (!stack_table.open() || !open_log_file()) {
        process->off = true;
        return false;
    }
    make_end_key();
    watch_exits();
    verifying.store(settings().verify_stacks);
    opened_by = ::getpid();
    process->generation.store(static_cast<std::uint32_t>(opened_by.load()),
                              std::memory_order_release);
    return true;
}

// The lane of a thread that ended, if there is one, else a lane of its own.
void enter_lane(Thread& thread) noexcept
{
    Lane lane;
    thread.lane = thread.index;
    if (!lanes.take(lane))
        return;
    thread.lane = lane.index;
    thread.chunks = lane.next_ordinal;
    if (lane.chunk != Lane::kNoChunk)
        thread.row = log_file.map_chunks(lane.chunk, lane.row);
    if (!(thread.chunk = thread.row.first))
        return;
    thread.at = reinterpret_cast<std::uint8_t*>(thread.chunk + 1) + lane.committed;
    thread.end = reinterpret_cast<std::uint8_t*>(thread.chunk) + format::kChunkBytes;
    thread.deltas = lane.deltas;
    thread.place = lane.place;
}

// A thread that was torn out of a hook leaves a free that is pending, or deltas that are not those
// of the log: its chunk is not written any more.
void leave_lane(const Thread& thread) noexcept
{
    Lane lane{thread.lane, thread.chunks, Lane::kNoChunk, 0, 0, thread.deltas, thread.place};
    if (thread.chunk && thread.inside == Inside::program) {
        lane.chunk = thread.chunk->index;
        lane.row = thread.row.from(thread.chunk);
        lane.committed = thread.chunk->committed;
    }
    if (thread.chunk)
        LogFile::unmap_chunks(thread.row);
    lanes.give(lane);
}

// What the thread has not yet added to the header: it does so at every self-check.
void add_verified(const Thread& thread) noexcept
{
    std::atomic_ref(process->header->stacks_verified)
        .fetch_add(thread.verified % kSelfCheckEvery, std::memory_order_relaxed);
}

// What the log says before its first event.
void write_definitions(Thread& thread, const Opening& opening) noexcept
{
    write_description(thread);
    for (std::size_t id = 0; id < opening.apis; ++id) {
        const Api api = opening.api(id);
        write(thread, format::Api{id, api.effect, api.memory, api.name});
    }
    note_modules(thread);
    if (opening.describe)
        opening.describe(thread);
}

bool open(Thread& thread, const Opening& opening) noexcept
{
    if (capture::privileged())
        return false;
    const StandardDescriptors standard;
    capture::open_unwinder(settings().unwinder); // asks the loader: before our lock
    bool opened_here = false;
    {
        const std::lock_guard guard(opening_lock);
        opened_here = !process->generation;
        if (!open_for_process())
            return false;
    }
    if (!join(thread))
        return false;
    if (opened_here) {
        write_definitions(thread, opening);
        write_remembered_test(thread);
    }
    return true;
}

} // namespace

bool make_ready(Thread& thread, const Opening& opening) noexcept
{
    if (process->off)
        return false;
    const capture::SignalsHeld held;
    return process->generation ? join(thread) : open(thread, opening);
}

bool join(Thread& thread) noexcept
{
    const PendingRanges pending = thread.pending;
    const Inside inside = thread.inside;
    const CallSite site = thread.site;
    const bool end_watched = thread.end_watched;
    capture::VerifiedStacks* const inherited = thread.stacks;
    forget_driver_times(thread); // what a parent's thread summed up is in its own log
    thread = {}; // after a fork its pointers are the parent's and must not be followed
    thread.inside = inside;
    thread.site = site;
    thread.stack = capture::own_stack_bounds();
    thread.pending = pending;
    thread.end_watched = end_watched;
    watch_end(thread);
    thread.index =
        std::atomic_ref(process->header->threads).fetch_add(1, std::memory_order_relaxed);
    thread.generation = process->generation;
    if (inherited)
        inherited->forget(); // its ids are those of the parent's log
    if (settings().verify_stacks)
        thread.stacks = inherited ? inherited : capture::VerifiedStacks::create(thread.stack);
    enter_lane(thread);
    if (!thread.chunk)
        next_chunk(thread);
    else
        write_thread(thread);
    thread.pending.drain(
        [&](std::string_view range) { write(thread, {now()}, format::RangePush{range}); });
    thread.pending.give_room_back();
    return true;
}

void make_room_for_pending(Thread& thread) noexcept
{
    if (thread.pending.has_room())
        return;
    const capture::SignalsHeld held;
    {
        const std::lock_guard guard(opening_lock);
        make_end_key();
    }
    watch_end(thread);
    if (thread.end_watched)
        thread.pending.make_room();
}

void leave(Thread& thread) noexcept
{
    const capture::SignalsHeld held;
    thread.pending.give_room_back();
    thread.end_watched = false;
    if (!is_ready(thread))
        return;
    add_verified(thread);
    if (thread.inside == Inside::program) // otherwise it was torn out of a hook
        write_driver_times(thread, now(), true);
    leave_lane(thread);
    forget_driver_times(thread);
    thread.inside = Inside::recorder;
    if (thread.stacks)
        thread.stacks->destroy();
    thread = {}; // should it call CUDA again, from another destructor, it joins again
}

void exit_began(int status) noexcept
{
    format::FileHeader* header = own_header();
    if (!header || header->exit_began_ticks)
        return;
    renew_clock_pair();
    header->end_status = status;
    header->exit_began_ticks = now();
}

void ended(format::End how, int status) noexcept
{
    format::FileHeader* header = own_header();
    if (!header || header->end != format::End::unknown)
        return;
    if (how == format::End::exit && !header->exit_began_ticks)
        return;
    if (how == format::End::underscore_exit)
        header->end_status = status;
    renew_clock_pair();
    if (Thread& thread = this_thread; is_ready(thread)) {
        add_verified(thread);
        if (thread.inside == Inside::program)
            write_driver_times(thread, now(), true);
    }
    header->end = how;
}

} // namespace vramscope::log
