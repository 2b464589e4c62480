// tools/simgpu/driver/stream/event_api.cpp — cuEvent*, cuStreamWaitEvent.
#include "api.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {
namespace {

constexpr unsigned kEventFlags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

// The work of a record. From now on an interprocess event has a new number in all its processes.
Work recording(Event& event)
{
    Work work = stamp(event);
    if (!event.shared)
        return work;
    event.shared_ticket = event.shared->record();
    work.run = [run = std::move(work.run), shared = event.shared, ticket = event.shared_ticket] {
        shared->reach(ticket);
        return run();
    };
    return work;
}

CUresult record(Context& context, CUevent handle, CUstream stream_handle)
{
    Stream* stream = nullptr;
    Event* const event = slots<Event>().find(handle);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult error = resolve_stream(stream_handle, context, stream))
        return error;
    if (stream->context != event->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (const auto captured = record_in_capture(*stream, *event))
        return *captured;
    event->mark = enqueue(*stream, recording(*event));
    return CUDA_SUCCESS;
}

// Whether the newest record is another process's, so that no mark here stands for it.
bool recorded_elsewhere(const Event& event)
{
    return event.shared && event.shared->newest() != event.shared_ticket;
}

bool is_complete(const Event& event)
{
    return recorded_elsewhere(event) ? event.shared->reached(event.shared->newest())
                                     : event.mark.reached();
}

// Work that ends when the newest record is reached.
Work waiting_for(const Event& event)
{
    Work work;
    if (recorded_elsewhere(event))
        work.run = [shared = event.shared, ticket = event.shared->newest()] {
            shared->wait(ticket);
            return CUDA_SUCCESS;
        };
    else
        work.waits.push_back(event.mark);
    return work;
}

CUresult tell_elapsed(Context&, float* milliseconds, CUevent start_handle, CUevent end_handle)
{
    const Event* const start = slots<Event>().find(start_handle);
    const Event* const end = slots<Event>().find(end_handle);
    if (!start || !end || !start->time || !end->time ||
        ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!start->time->set.load(std::memory_order_acquire) ||
        !end->time->set.load(std::memory_order_acquire))
        return CUDA_ERROR_NOT_READY;
    *milliseconds =
        std::chrono::duration<float, std::milli>(end->time->at - start->time->at).count();
    return CUDA_SUCCESS;
}

} // namespace

Work stamp(Event& event)
{
    const auto time = std::make_shared<EventTime>();
    event.time = time;
    Work work;
    work.run = [time] {
        time->at = std::chrono::steady_clock::now();
        time->set.store(true, std::memory_order_release);
        return CUDA_SUCCESS;
    };
    return work;
}

Event* open_event(Context& context, unsigned flags, std::shared_ptr<SharedEvent> shared)
{
    Event* const event = slots<Event>().make();
    event->flags = flags;
    event->context = &context;
    event->mark = {};
    event->time = nullptr;
    event->capture_id = 0;
    event->capture_tips.clear();
    event->shared = std::move(shared);
    event->shared_ticket = 0;
    return event;
}

namespace api {

CUresult cuEventCreate(Context& context, CUevent* phEvent, unsigned int Flags)
{
    const bool timed = (Flags & CU_EVENT_DISABLE_TIMING) == 0;
    if (!phEvent || (Flags & ~kEventFlags) != 0 || ((Flags & CU_EVENT_INTERPROCESS) && timed))
        return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<SharedEvent> shared;
    if ((Flags & CU_EVENT_INTERPROCESS) != 0 && !(shared = SharedEvent::make()))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phEvent = reinterpret_cast<CUevent>(open_event(context, Flags, std::move(shared)));
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(Context&, CUevent hEvent)
{
    Event* const event = slots<Event>().find(hEvent);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    event->shared = nullptr;
    slots<Event>().retire(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(Context& context, CUevent hEvent, CUstream hStream)
{
    return record(context, hEvent, hStream);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return (flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) != 0
               ? CUDA_ERROR_INVALID_VALUE
               : in_current_context(record, hEvent, hStream);
}

CUresult cuEventQuery(Context&, CUevent hEvent)
{
    Event* const event = slots<Event>().find(hEvent);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event->capture_id != 0)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (!is_complete(*event))
        return CUDA_ERROR_NOT_READY;
    return event->context->sticky_error;
}

CUresult cuEventSynchronize(Context&, CUevent hEvent)
{
    Event* const event = slots<Event>().find(hEvent);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event->capture_id != 0)
        return CUDA_ERROR_CAPTURED_EVENT;
    Context* const context = event->context;
    if (recorded_elsewhere(*event))
        event->shared->wait(event->shared->newest());
    else
        finish(event->mark);
    trim_pools_after_sync();
    return context->sticky_error;
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return pMilliseconds ? in_current_context(tell_elapsed, pMilliseconds, hStart, hEnd)
                         : CUDA_ERROR_INVALID_VALUE;
}

#if CUDA_VERSION >= 12080
CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return api::cuEventElapsedTime(pMilliseconds, hStart, hEnd);
}
#endif

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    Event* const event = slots<Event>().find(hEvent);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (const auto captured = wait_in_capture(*stream, *event))
        return *captured;
    if (!is_complete(*event))
        enqueue(*stream, waiting_for(*event));
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12050
// The handle of a green context is that of its primary context (GUESSES.md), so the event covers
// the work of both.
CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    Context* context = nullptr;
    if (const CUresult error = context_of_handle(hCtx, context))
        return error;
    Event* const event = slots<Event>().find(hEvent);
    if (!event || event->context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult refused = refuse_to_wait(*context))
        return refused;
    leave_capture(*event);
    event->mark = enqueue_after_all(*context, recording(*event));
    return CUDA_SUCCESS;
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    Context* context = nullptr;
    if (const CUresult error = context_of_handle(hCtx, context))
        return error;
    Event* const event = slots<Event>().find(hEvent);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    const CUresult of_event = refuse_while_captured(*event);
    const CUresult of_context = refuse_to_wait(*context);
    if (of_event || of_context)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    hold_back(*context, recorded_elsewhere(*event)
                            ? enqueue_after_all(*context, waiting_for(*event))
                            : event->mark);
    return CUDA_SUCCESS;
}
#endif

} // namespace api
} // namespace simgpu
