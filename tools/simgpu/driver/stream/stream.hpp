// tools/simgpu/driver/stream/stream.hpp — queues of work that has been asked for and not yet done.
//
// Nothing that is submitted runs at once. Work runs when a thread waits for it, or after
// work_delay() on a thread of the engine. The work of a stream runs in order, and after the marks
// that it waits for. The legacy default stream waits for every blocking stream of its context and
// holds it back. Each piece of work names the memory that it touches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "tools/simgpu/driver/base/cuda.hpp"
#include "tools/simgpu/driver/base/slots.hpp"
#include "tools/simgpu/driver/context/own_bytes.hpp"

namespace simgpu {

struct Context;
struct Stream;
struct Capture;

// A point in a stream, which is reached when that many pieces of work are done. It stays valid when
// the stream's slot is used again.
struct Mark {
    Stream* stream = nullptr;
    std::uint64_t ticket = 0;
    bool reached() const;
};

struct Touch {
    std::uintptr_t start;
    std::size_t bytes; // 0 if only the start is known
    bool writes;
    bool meets(std::uintptr_t other, std::size_t other_bytes) const
    {
        return start < other + other_bytes && other < start + (bytes ? bytes : 1);
    }
};

struct Work {
    // An error becomes the context's, for good.
    std::function<CUresult()> run;
    const char* entry = nullptr; // the exported name that queued it
    std::vector<Touch> touches;
    std::vector<Mark> waits;
};

struct Stream {
    std::atomic<bool> alive{false};
    Context* context = nullptr;
    std::uint64_t id = 0;
    unsigned flags = CU_STREAM_DEFAULT;
    int priority = 0;
    std::uint64_t green_id = 0; // the green context that it was made in; 0 if none
    bool retire_when_done = false;
    OwnBytes own;
    Capture* capture = nullptr;                       // under capture_mutex()
    std::map<int, CUlaunchAttributeValue> attributes; // see attribute_api.cpp

    // Under the engine's mutex; `done` may be read without it.
    struct Queued {
        Work work;
        std::chrono::steady_clock::time_point due;
    };
    std::deque<Queued> queue;
    std::uint64_t queued = 0;
    std::atomic<std::uint64_t> done{0};
    bool running = false;
    const Work* running_work = nullptr;

    bool blocking() const { return (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

inline bool Mark::reached() const
{
    return !stream || stream->done.load(std::memory_order_acquire) >= ticket;
}

Stream* open_stream(Context& context, unsigned flags, int priority);
void close_stream(Stream& stream);

// The stream that a handle means in the running call. CUDA_ERROR_INVALID_HANDLE if there is none,
// CUDA_ERROR_CONTEXT_IS_DESTROYED if its green context is gone.
CUresult resolve_stream(CUstream handle, Context& context, Stream*& stream);
// The same, with the calling thread's context.
CUresult stream_of_handle(CUstream handle, Stream*& stream);

Mark enqueue(Stream& stream, Work work);
Mark tail_of(Stream& stream);
// The work comes after all that is now in the context's streams.
Mark enqueue_after_all(Context& context, Work work);
// All that is submitted to the context from now on comes after the mark.
void hold_back(Context& context, Mark mark);
void finish(Mark mark);
void finish_all(Context& context);
bool idle(Stream& stream);

// A use of memory by work that is queued or running; `done` is reached when it is over.
struct PendingUse {
    const char* entry;
    Touch touch;
    Mark done;
    bool running;
};
// The uses in any stream of any context that meet the range, by the age of the streams, and for
// each stream in its order.
std::vector<PendingUse> pending_uses(std::uintptr_t start, std::size_t bytes);
// Waits for all of them.
void finish_uses(std::uintptr_t start, std::size_t bytes);

// True while this thread runs a host function, in which the API is forbidden.
bool inside_host_function();
CUresult run_host_function(void (*function)(void*), void* argument);

} // namespace simgpu
