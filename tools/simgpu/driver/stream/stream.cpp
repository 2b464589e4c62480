// tools/simgpu/driver/stream/stream.cpp — the engine, which runs queued work.
#include "tools/simgpu/driver/stream/stream.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <pthread.h>
#include <set>

#include "tools/simgpu/driver/base/entry.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/context/context.hpp"
#include "tools/simgpu/driver/context/green_context.hpp"

namespace simgpu {
namespace {

using Clock = std::chrono::steady_clock;

// A driver's queue is finite too: to submit more waits for the oldest work.
constexpr std::uint64_t kLongestQueue = 1024;

struct Engine {
    std::mutex mutex;
    std::condition_variable something_done;
    std::condition_variable something_queued;
    std::set<Stream*> busy;
    std::chrono::microseconds delay = work_delay();
    bool worker_started = false;
    std::uint64_t last_stream_id = 0;
};

Engine& engine()
{
    static auto* state = new Engine;
    return *state;
}

constinit thread_local bool in_host_function = false;

void retire_if_done(Stream& stream)
{
    if (!stream.retire_when_done || !stream.queue.empty() || stream.running)
        return;
    stream.retire_when_done = false;
    if (stream.context)
        std::erase(stream.context->streams, &stream);
    slots<Stream>().retire(&stream);
}

// Runs the work at the front, whose waits are reached and which is not running.
void run_front(std::unique_lock<std::mutex>& lock, Stream& stream)
{
    Work work = std::move(stream.queue.front().work);
    stream.queue.pop_front();
    stream.running = true;
    stream.running_work = &work;
    lock.unlock();
    const CUresult result = work.run ? work.run() : CUDA_SUCCESS;
    // It may hold a graph's memory, which takes locks when it ends.
    work.run = nullptr;
    lock.lock();
    stream.running = false;
    stream.running_work = nullptr;
    if (result != CUDA_SUCCESS)
        stream.context->sticky_error = result;
    stream.done.fetch_add(1, std::memory_order_release);
    stream.context->pending.fetch_sub(1);
    if (stream.queue.empty())
        engine().busy.erase(&stream);
    retire_if_done(stream);
    engine().something_done.notify_all();
}

void advance(std::unique_lock<std::mutex>& lock, Mark target)
{
    while (!target.reached()) {
        Stream& stream = *target.stream;
        if (stream.running) {
            engine().something_done.wait(lock);
            continue;
        }
        const auto& waits = stream.queue.front().work.waits;
        const auto blocked = std::find_if(waits.begin(), waits.end(),
                                          [](const Mark& mark) { return !mark.reached(); });
        if (blocked == waits.end())
            run_front(lock, stream);
        else
            advance(lock, Mark{*blocked});
    }
}

[[noreturn]] void work_for_ever()
{
    Engine& state = engine();
    std::unique_lock lock(state.mutex);
    for (;;) {
        auto next = Clock::time_point::max();
        Stream* due = nullptr;
        for (Stream* stream : state.busy) {
            if (!stream->running && !stream->queue.empty() && stream->queue.front().due < next) {
                next = stream->queue.front().due;
                due = stream;
            }
        }
        if (!due)
            state.something_queued.wait(lock);
        else if (next > Clock::now())
            state.something_queued.wait_until(lock, next);
        else
            advance(lock, {due, due->done.load() + 1});
    }
}

void start_worker(Engine& state)
{
    state.worker_started = true;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The program's signals are not for this thread.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const auto body = [](void*) -> void* { work_for_ever(); };
    if (pthread_create(&thread, nullptr, body, nullptr) == 0) {
        pthread_setname_np(thread, "simgpu-work");
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void add_default_stream_waits(Stream& stream, std::vector<Mark>& waits)
{
    Context& context = *stream.context;
    const auto wait_for = [&waits](Stream& other) {
        const Mark mark{&other, other.queued};
        if (!mark.reached())
            waits.push_back(mark);
    };
    if (&stream == context.legacy_stream) {
        for (Stream* other : context.streams)
            if (other != &stream && other->blocking())
                wait_for(*other);
    } else if (stream.blocking() && context.legacy_stream) {
        wait_for(*context.legacy_stream);
    }
}

void add_context_waits(Context& context, std::vector<Mark>& waits)
{
    std::erase_if(context.held_back_by, [](const Mark& mark) { return mark.reached(); });
    waits.insert(waits.end(), context.held_back_by.begin(), context.held_back_by.end());
}

} // namespace

Stream* open_stream(Context& context, unsigned flags, int priority)
{
    const std::lock_guard lock(engine().mutex);
    Stream* stream = slots<Stream>().make();
    stream->context = &context;
    stream->id = ++engine().last_stream_id;
    stream->flags = flags;
    stream->priority = priority;
    stream->capture = nullptr;
    stream->green_id = 0;
    stream->own = {};
    stream->attributes.clear();
    context.streams.push_back(stream);
    return stream;
}

void close_stream(Stream& stream)
{
    stream.own.give();
    const std::lock_guard lock(engine().mutex);
    stream.retire_when_done = true;
    retire_if_done(stream);
}

CUresult resolve_stream(CUstream handle, Context& context, Stream*& stream)
{
    if (!handle)
        handle = default_stream_is_per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    if (handle == CU_STREAM_LEGACY)
        stream = context.legacy_stream;
    else if (handle == CU_STREAM_PER_THREAD)
        stream = per_thread_stream(context);
    else
        stream = slots<Stream>().find(handle);
    if (!stream || stream->retire_when_done)
        return CUDA_ERROR_INVALID_HANDLE;
    return green_context_lives(*stream) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult stream_of_handle(CUstream handle, Stream*& stream)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    return resolve_stream(handle, *context, stream);
}

Mark enqueue(Stream& stream, Work work)
{
    Engine& state = engine();
    std::unique_lock lock(state.mutex);
    if (!state.worker_started)
        start_worker(state);
    if (stream.queue.size() >= kLongestQueue)
        advance(lock, {&stream, stream.queued - kLongestQueue / 2});
    work.entry = running_entry;
    std::erase_if(work.waits, [](const Mark& mark) { return mark.reached(); });
    add_default_stream_waits(stream, work.waits);
    add_context_waits(*stream.context, work.waits);
    stream.queue.push_back({std::move(work), Clock::now() + state.delay});
    ++stream.queued;
    stream.context->pending.fetch_add(1);
    const bool was_idle = state.busy.empty();
    state.busy.insert(&stream);
    if (was_idle)
        state.something_queued.notify_one();
    return {&stream, stream.queued};
}

Mark tail_of(Stream& stream)
{
    const std::lock_guard lock(engine().mutex);
    return {&stream, stream.queued};
}

Mark enqueue_after_all(Context& context, Work work)
{
    Stream* order = nullptr;
    {
        const std::lock_guard lock(contexts_mutex());
        if (!context.order_stream)
            context.order_stream = open_stream(context, CU_STREAM_NON_BLOCKING, 0);
        order = context.order_stream;
    }
    {
        const std::lock_guard lock(engine().mutex);
        for (Stream* stream : context.streams)
            work.waits.push_back({stream, stream->queued});
    }
    return enqueue(*order, std::move(work));
}

void hold_back(Context& context, Mark mark)
{
    const std::lock_guard lock(engine().mutex);
    if (!mark.reached())
        context.held_back_by.push_back(mark);
}

void finish(Mark mark)
{
    if (mark.reached())
        return;
    std::unique_lock lock(engine().mutex);
    advance(lock, mark);
}

void finish_all(Context& context)
{
    if (context.pending.load() == 0)
        return;
    std::unique_lock lock(engine().mutex);
    // A copy, as a stream may be retired, or opened by another thread, while work runs.
    const std::vector<Stream*> all = context.streams;
    for (Stream* stream : all)
        advance(lock, {stream, stream->queued});
}

bool idle(Stream& stream)
{
    return tail_of(stream).reached();
}

std::vector<PendingUse> pending_uses(std::uintptr_t start, std::size_t bytes)
{
    std::vector<PendingUse> found;
    const auto look = [&](Stream& stream, const Work& work, std::uint64_t ticket, bool running) {
        for (const Touch& touch : work.touches)
            if (touch.meets(start, bytes))
                found.push_back({work.entry, touch, {&stream, ticket}, running});
    };
    const std::lock_guard lock(engine().mutex);
    std::vector<Stream*> busy(engine().busy.begin(), engine().busy.end());
    std::sort(busy.begin(), busy.end(),
              [](const Stream* one, const Stream* other) { return one->id < other->id; });
    for (Stream* stream : busy) {
        if (stream->running_work)
            look(*stream, *stream->running_work, stream->done.load() + 1, true);
        std::uint64_t ticket = stream->queued - stream->queue.size();
        for (const Stream::Queued& queued : stream->queue)
            look(*stream, queued.work, ++ticket, false);
    }
    return found;
}

void finish_uses(std::uintptr_t start, std::size_t bytes)
{
    for (const PendingUse& use : pending_uses(start, bytes))
        finish(use.done);
}

bool inside_host_function()
{
    return in_host_function;
}

CUresult run_host_function(void (*function)(void*), void* argument)
{
    in_host_function = true;
    function(argument);
    in_host_function = false;
    return CUDA_SUCCESS;
}

} // namespace simgpu
