// tools/simgpu/driver/stream/capture_event.cpp — events, by which other streams join a capture.
#include <algorithm>

#include "tools/simgpu/driver/stream/capture_state.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {

namespace {

void leave_capture_locked(Event& event)
{
    event.capture_id = 0;
    event.capture_tips.clear();
}

// The capture that the event is a point of; null if it has ended.
Capture* capture_of_locked(const Event& event)
{
    for (Capture* open : captures().open)
        if (open->id == event.capture_id)
            return open;
    return nullptr;
}

} // namespace

void leave_capture(Event& event)
{
    const std::lock_guard lock(capture_mutex());
    leave_capture_locked(event);
}

CUresult refuse_while_captured(const Event& event)
{
    const std::lock_guard lock(capture_mutex());
    Capture* const capture = capture_of_locked(event);
    if (!capture)
        return CUDA_SUCCESS;
    capture->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

std::optional<CUresult> record_in_capture(Stream& stream, Event& event)
{
    const std::lock_guard lock(capture_mutex());
    leave_capture_locked(event);
    if (!stream.capture)
        return breaks_by_legacy_stream_locked(stream)
                   ? std::optional(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
                   : std::nullopt;
    if (stream.capture->broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    event.capture_id = stream.capture->id;
    event.capture_tips = stream.capture->tips[&stream];
    event.mark = {};
    event.time = nullptr;
    return CUDA_SUCCESS;
}

std::optional<CUresult> wait_in_capture(Stream& stream, Event& event)
{
    const std::lock_guard lock(capture_mutex());
    if (event.capture_id == 0) {
        if (!stream.capture)
            return breaks_by_legacy_stream_locked(stream)
                       ? std::optional(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
                       : std::nullopt;
        stream.capture->broken = true; // it would wait for work outside the graph
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    Capture* const of_event = capture_of_locked(event);
    if (!of_event)
        return stream.capture ? std::optional(CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                              : std::optional(CUDA_SUCCESS);
    if (of_event->broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream.capture && stream.capture != of_event) {
        stream.capture->broken = true;
        of_event->broken = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (&stream == stream.context->legacy_stream)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    stream.capture = of_event;
    auto& tips = of_event->tips[&stream];
    for (GraphNode* tip : event.capture_tips)
        if (std::find(tips.begin(), tips.end(), tip) == tips.end())
            tips.push_back(tip);
    return CUDA_SUCCESS;
}

} // namespace simgpu
