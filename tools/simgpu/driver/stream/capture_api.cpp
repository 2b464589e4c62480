// tools/simgpu/driver/stream/capture_api.cpp — begin, end and ask stream captures.
#include <algorithm>

#include "api.hpp"
#include "tools/simgpu/driver/context/thread_state.hpp"
#include "tools/simgpu/driver/stream/capture_state.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {
namespace {

// Every node that the tips depend on, and the tips.
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

// Whether other streams of the capture come after all that this one has added.
bool rejoined(const Capture& capture, Stream& stream)
{
    std::vector<GraphNode*> of_others;
    for (const auto& [other, tips] : capture.tips)
        if (other != &stream)
            of_others.insert(of_others.end(), tips.begin(), tips.end());
    const auto joined = reachable(of_others);
    const auto& own = capture.tips.at(&stream);
    return std::all_of(own.begin(), own.end(),
                       [&joined](GraphNode* tip) { return joined.contains(tip); });
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, Graph* into,
               std::vector<GraphNode*> after)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(handle, stream))
        return error;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == stream->context->legacy_stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    Graph* graph = into ? into : open_graph();
    const std::lock_guard lock(capture_mutex());
    if (stream->capture || graph->captured) { // only one capture writes into a graph
        if (!into)
            close_graph_locked(*graph);
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    auto* capture = new Capture;
    capture->graph = graph;
    capture->graph_is_callers = into != nullptr;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = stream;
    capture->tips[stream] = std::move(after);
    open_capture_locked(*capture);
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
    if (const CUresult error = stream_of_handle(handle, stream))
        return error;
    const std::lock_guard lock(capture_mutex());
    const Capture* capture = stream->capture;
    if (!capture)
        return blocked_by_capture_locked(*stream) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                                  : CUDA_SUCCESS;
    info.status =
        capture->broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (capture->broken)
        return CUDA_SUCCESS;
    info.id = capture->id;
    info.graph = reinterpret_cast<CUgraph>(capture->graph);
    // The list is valid until the next call for the stream (cuda.h).
    const auto& tips = capture->tips.at(stream);
    info.tips = reinterpret_cast<const CUgraphNode*>(tips.data());
    info.tip_count = tips.size();
    return CUDA_SUCCESS;
}

CUresult set_tips(CUstream handle, CUgraphNode* nodes, std::size_t count, unsigned flags)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(handle, stream))
        return error;
    if (count > 0 && !nodes)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(capture_mutex());
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    std::vector<GraphNode*> given;
    for (std::size_t index = 0; index < count; ++index) {
        GraphNode* node = slots<GraphNode>().find(nodes[index]);
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

void abandon_capture(Stream& stream)
{
    const std::lock_guard lock(capture_mutex());
    Capture* const capture = stream.capture;
    if (!capture)
        return;
    if (capture->origin != &stream) {
        capture->broken = capture->broken || !rejoined(*capture, stream);
        capture->tips.erase(&stream);
        stream.capture = nullptr;
        return;
    }
    end_with_graph_locked(*capture);
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
    if (const CUresult error = stream_of_handle(hStream, stream))
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
    Graph* graph = slots<Graph>().find(hGraph);
    if (!graph || (numDependencies > 0 && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<GraphNode*> after;
    for (size_t index = 0; index < numDependencies; ++index) {
        after.push_back(slots<GraphNode>().find(dependencies[index]));
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
