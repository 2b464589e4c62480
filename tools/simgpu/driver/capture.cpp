// tools/simgpu/driver/capture.cpp — stream capture: submitted work becomes nodes; what a capture
// forbids breaks it.
#include "tools/simgpu/driver/capture.hpp"

#include "tools/simgpu/driver/event.hpp"
#include "tools/simgpu/driver/graph.hpp"
#include "tools/simgpu/driver/thread_state.hpp"

#include "api.hpp"

#include <algorithm>

namespace simgpu {

struct Capture {
    std::uint64_t id = 0;
    Graph* graph = nullptr;
    bool graph_is_callers = false;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    Stream* origin = nullptr;
    bool broken = false;
    std::map<Stream*, std::vector<GraphNode*>> tips; // what the next node of each stream depends on
};

namespace {

std::atomic<unsigned> open_captures{0};

struct Captures {
    std::uint64_t last_id = 0;
    std::set<Capture*> open;
};

Captures& captures()
{
    static auto* all = new Captures;
    return *all;
}

GraphNode* append_locked(Stream& stream, CUgraphNodeType type, Work work, NodeDetail detail = {})
{
    Capture& capture = *stream.capture;
    auto& tips = capture.tips[&stream];
    GraphNode* node =
        add_node_locked(*capture.graph, tips, type, std::move(work), std::move(detail));
    tips = {node};
    return node;
}

// A legacy stream waits for blocking streams, so it cannot be used while one of them is captured.
bool breaks_by_legacy_stream_locked(Stream& stream)
{
    if (&stream != stream.context->legacy_stream)
        return false;
    bool found = false;
    for (Capture* capture : captures().open)
        for (const auto& [captured, tips] : capture->tips)
            if (captured->context == stream.context && captured->blocking()) {
                capture->broken = true;
                found = true;
            }
    return found;
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

// Its graph is lost, unless it is the caller's.
void end_with_graph_locked(Capture& capture)
{
    Graph* const lost = capture.graph_is_callers ? nullptr : capture.graph;
    end_locked(capture);
    if (lost)
        close_graph_locked(*lost);
}

// Every node that the tips depend on, themselves included.
std::set<GraphNode*> reachable(const std::vector<GraphNode*>& tips)
{
    std::set<GraphNode*> seen;
    std::vector<GraphNode*> open = tips;
    while (!open.empty()) {
        GraphNode* node = open.back();
        open.pop_back();
        if (seen.insert(node).second)
            open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
    }
    return seen;
}

bool all_joined(const Capture& capture)
{
    const auto joined = reachable(capture.tips.at(capture.origin));
    for (const auto& [stream, tips] : capture.tips)
        for (GraphNode* tip : tips)
            if (!joined.contains(tip))
                return false;
    return true;
}

CUresult here(CUstream handle, Stream*& stream)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    return resolve_stream(handle, *context, stream);
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, Graph* into,
               std::vector<GraphNode*> after)
{
    Stream* stream = nullptr;
    if (const CUresult error = here(handle, stream))
        return error;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == stream->context->legacy_stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    Graph* graph = into ? into : open_graph();
    const std::lock_guard lock(capture_mutex());
    if (stream->capture || graph->captured) { // one capture writes into a graph
        if (!into)
            close_graph_locked(*graph);
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    graph->captured = true;
    auto* capture = new Capture;
    capture->id = ++captures().last_id;
    capture->graph = graph;
    capture->graph_is_callers = into != nullptr;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = stream;
    capture->tips[stream] = std::move(after);
    stream->capture = capture;
    captures().open.insert(capture);
    open_captures.fetch_add(1);
    return CUDA_SUCCESS;
}

struct Info {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* tips = nullptr;
    std::size_t tip_count = 0;
};

CUresult info_of(CUstream handle, Info& info)
{
    Stream* stream = nullptr;
    if (const CUresult error = here(handle, stream))
        return error;
    const std::lock_guard lock(capture_mutex());
    const Capture* capture = stream->capture;
    if (!capture)
        return breaks_by_legacy_stream_locked(*stream) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                                       : CUDA_SUCCESS;
    info.status =
        capture->broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (capture->broken)
        return CUDA_SUCCESS;
    info.id = capture->id;
    info.graph = reinterpret_cast<CUgraph>(capture->graph);
    // Valid until the stream's next call, as cuda.h says.
    const auto& tips = capture->tips.at(stream);
    info.tips = reinterpret_cast<const CUgraphNode*>(tips.data());
    info.tip_count = tips.size();
    return CUDA_SUCCESS;
}

CUresult set_tips(CUstream handle, CUgraphNode* nodes, std::size_t count, unsigned flags)
{
    Stream* stream = nullptr;
    if (const CUresult error = here(handle, stream))
        return error;
    if (count > 0 && !nodes)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(capture_mutex());
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    std::vector<GraphNode*> given;
    for (std::size_t index = 0; index < count; ++index) {
        GraphNode* node = graph_nodes().find(nodes[index]);
        if (!node || node->graph != stream->capture->graph)
            return CUDA_ERROR_INVALID_VALUE;
        given.push_back(node);
    }
    auto& tips = stream->capture->tips[stream];
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        tips = std::move(given);
    else
        tips.insert(tips.end(), given.begin(), given.end());
    return CUDA_SUCCESS;
}

} // namespace

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
        if (capture->origin->context == &context) {
            capture->broken = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

void abandon_capture(Stream& stream)
{
    const std::lock_guard lock(capture_mutex());
    Capture* const capture = stream.capture;
    if (!capture)
        return;
    if (capture->origin != &stream) {
        capture->broken = true;
        capture->tips.erase(&stream);
        stream.capture = nullptr;
        return;
    }
    end_with_graph_locked(*capture);
}

std::optional<CUresult> record_in_capture(Stream& stream, Event& event)
{
    const std::lock_guard lock(capture_mutex());
    event.capture_id = 0;
    event.capture_tips.clear();
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
        stream.capture->broken = true; // would wait for work outside the graph
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    Capture* of_event = nullptr;
    for (Capture* open : captures().open)
        if (open->id == event.capture_id)
            of_event = open;
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

namespace api {

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin(hStream, mode, nullptr, {});
}

CUresult cuStreamBeginCapture(CUstream hStream)
{
    return begin(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {});
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph)
{
    Stream* stream = nullptr;
    if (const CUresult error = here(hStream, stream))
        return error;
    if (!phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(capture_mutex());
    Capture* const capture = stream->capture;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != std::this_thread::get_id())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    CUresult result = CUDA_SUCCESS;
    if (capture->broken)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(*capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *phGraph = result == CUDA_SUCCESS ? reinterpret_cast<CUgraph>(capture->graph) : nullptr;
    if (result == CUDA_SUCCESS)
        end_locked(*capture);
    else
        end_with_graph_locked(*capture);
    return result;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus)
{
    if (!captureStatus)
        return CUDA_ERROR_INVALID_VALUE;
    Info info;
    const CUresult result = info_of(hStream, info);
    if (result == CUDA_SUCCESS)
        *captureStatus = info.status;
    return result;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out)
{
    if (!captureStatus_out)
        return CUDA_ERROR_INVALID_VALUE;
    Info info;
    if (const CUresult error = info_of(hStream, info))
        return error;
    *captureStatus_out = info.status;
    if (id_out)
        *id_out = info.id;
    if (graph_out)
        *graph_out = info.graph;
    if (dependencies_out)
        *dependencies_out = info.tips;
    if (numDependencies_out)
        *numDependencies_out = info.tip_count;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                cuuint64_t* id_out)
{
    return api::cuStreamGetCaptureInfo_v2(hStream, captureStatus_out, id_out, nullptr, nullptr,
                                          nullptr);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                           size_t numDependencies, unsigned int flags)
{
    return set_tips(hStream, dependencies, numDependencies, flags);
}

#if CUDA_VERSION >= 12030
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out,
                                   size_t* numDependencies_out)
{
    const CUresult result = api::cuStreamGetCaptureInfo_v2(
        hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
    if (result == CUDA_SUCCESS && edgeData_out)
        *edgeData_out = nullptr;
    return result;
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData*, size_t numDependencies,
                                              unsigned int flags)
{
    return set_tips(hStream, dependencies, numDependencies, flags);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData*,
                                     size_t numDependencies, CUstreamCaptureMode mode)
{
    Graph* graph = graphs().find(hGraph);
    if (!graph || (numDependencies > 0 && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<GraphNode*> after;
    for (size_t index = 0; index < numDependencies; ++index) {
        after.push_back(graph_nodes().find(dependencies[index]));
        if (!after.back() || after.back()->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return begin(hStream, mode, graph, std::move(after));
}
#endif

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode)
{
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, thread_state().capture_mode);
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
