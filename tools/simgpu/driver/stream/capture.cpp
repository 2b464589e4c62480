// tools/simgpu/driver/stream/capture.cpp — submitted work becomes nodes.
#include "tools/simgpu/driver/stream/capture.hpp"

#include <algorithm>

#include "tools/simgpu/driver/context/thread_state.hpp"
#include "tools/simgpu/driver/stream/capture_state.hpp"

namespace simgpu {
namespace {

std::atomic<unsigned> open_captures{0};

GraphNode* append_locked(Stream& stream, CUgraphNodeType type, Work work, NodeDetail detail = {})
{
    Capture& capture = *stream.capture;
    auto& tips = capture.tips[&stream];
    GraphNode* node =
        add_node_locked(*capture.graph, tips, type, std::move(work), std::move(detail));
    tips = {node};
    return node;
}

} // namespace

Captures& captures()
{
    static auto* all = new Captures;
    return *all;
}

void open_capture_locked(Capture& capture)
{
    capture.id = ++captures().last_id;
    capture.graph->captured = true;
    capture.origin->capture = &capture;
    captures().open.insert(&capture);
    open_captures.fetch_add(1);
}

void end_locked(Capture& capture)
{
    for (const auto& [stream, tips] : capture.tips)
        stream->capture = nullptr;
    capture.graph->captured = false;
    captures().open.erase(&capture);
    open_captures.fetch_sub(1);
    delete &capture;
}

void end_with_graph_locked(Capture& capture)
{
    Graph* const lost = capture.graph_is_callers ? nullptr : capture.graph;
    end_locked(capture);
    if (lost)
        close_graph_locked(*lost);
}

namespace {

bool is_in_the_way_of(const Capture& capture, const Stream& legacy)
{
    return std::any_of(capture.tips.begin(), capture.tips.end(), [&legacy](const auto& tip) {
        return tip.first->context == legacy.context && tip.first->blocking();
    });
}

} // namespace

bool blocked_by_capture_locked(const Stream& stream)
{
    const auto& open = captures().open;
    return &stream == stream.context->legacy_stream &&
           std::any_of(open.begin(), open.end(), [&stream](const Capture* capture) {
               return is_in_the_way_of(*capture, stream);
           });
}

bool breaks_by_legacy_stream_locked(Stream& stream)
{
    if (!blocked_by_capture_locked(stream))
        return false;
    for (Capture* capture : captures().open)
        capture->broken = capture->broken || is_in_the_way_of(*capture, stream);
    return true;
}

std::mutex& capture_mutex()
{
    static auto* mutex = new std::mutex;
    return *mutex;
}

bool capturing(Stream& stream)
{
    if (open_captures.load() == 0)
        return false;
    const std::lock_guard lock(capture_mutex());
    return stream.capture != nullptr;
}

CUresult submit(Stream& stream, Submission submission, Mark* mark)
{
    if (open_captures.load() > 0) {
        const std::lock_guard lock(capture_mutex());
        if (stream.capture) {
            if (stream.capture->broken)
                return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
            append_locked(stream, submission.type, std::move(submission.work));
            return CUDA_SUCCESS;
        }
        if (breaks_by_legacy_stream_locked(stream))
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    const Mark queued = enqueue(stream, std::move(submission.work));
    if (mark)
        *mark = queued;
    return CUDA_SUCCESS;
}

CUresult refuse_during_capture()
{
    if (open_captures.load() == 0)
        return CUDA_SUCCESS;
    const CUstreamCaptureMode mode = thread_state().capture_mode;
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    const std::lock_guard lock(capture_mutex());
    CUresult result = CUDA_SUCCESS;
    for (Capture* capture : captures().open) {
        const bool ours = capture->thread == std::this_thread::get_id() &&
                          capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        const bool global =
            mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (ours || global) {
            capture->broken = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

CUresult refuse_to_wait(Stream& stream)
{
    if (open_captures.load() == 0)
        return CUDA_SUCCESS;
    const std::lock_guard lock(capture_mutex());
    if (stream.capture) {
        stream.capture->broken = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return breaks_by_legacy_stream_locked(stream) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                                  : CUDA_SUCCESS;
}

CUresult refuse_to_wait(Context& context)
{
    if (open_captures.load() == 0)
        return CUDA_SUCCESS;
    const std::lock_guard lock(capture_mutex());
    CUresult result = CUDA_SUCCESS;
    for (Capture* capture : captures().open)
        // A capture may have forked into streams of other contexts.
        for (const auto& [stream, tips] : capture->tips)
            if (stream->context == &context) {
                capture->broken = true;
                result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            }
    return result;
}

std::optional<CUresult> allocate_in_capture(Stream& stream, Device& device, std::size_t bytes,
                                            CUdeviceptr& address)
{
    if (!capturing(stream))
        return std::nullopt;
    const std::lock_guard lock(capture_mutex());
    if (stream.capture->broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CUdeviceptr planned = 0;
    if (const CUresult error = plan_graph_memory(device, bytes, *stream.capture->graph, planned))
        return error;
    GraphAllocation detail{planned, {}, {}};
    detail.parameters.bytesize = bytes;
    detail.parameters.dptr = planned;
    detail.parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    detail.parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
    append_locked(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, {}, detail);
    address = planned;
    return CUDA_SUCCESS;
}

std::optional<CUresult> free_in_capture(Stream& stream, CUdeviceptr address)
{
    if (!capturing(stream))
        return std::nullopt;
    const std::lock_guard lock(capture_mutex());
    if (stream.capture->broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (const CUresult error = claim_graph_free(address, *stream.capture->graph))
        return error;
    append_locked(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, {}, GraphFree{address});
    return CUDA_SUCCESS;
}

} // namespace simgpu
