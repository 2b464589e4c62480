// tools/simgpu/runtime/capture.cpp — stream capture.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

SIMGPU_STREAM_FUNCTION(cudaStreamBeginCapture, _ptsz,
                       (cudaStream_t stream, cudaStreamCaptureMode mode), {
                           return calls.cuStreamBeginCapture(
                               stream, static_cast<CUstreamCaptureMode>(mode));
                       })
SIMGPU_STREAM_FUNCTION(cudaStreamEndCapture, _ptsz, (cudaStream_t stream, cudaGraph_t* pGraph),
                       { return calls.cuStreamEndCapture(stream, pGraph); })
SIMGPU_STREAM_FUNCTION(cudaStreamIsCapturing, _ptsz,
                       (cudaStream_t stream, cudaStreamCaptureStatus* pCaptureStatus), {
                           return calls.cuStreamIsCapturing(
                               stream, reinterpret_cast<CUstreamCaptureStatus*>(pCaptureStatus));
                       })

SIMGPU_RUNTIME cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode)
{
    return call(&Driver::cuThreadExchangeStreamCaptureMode,
                reinterpret_cast<CUstreamCaptureMode*>(mode));
}

// From CUDA 12.3 on an edge has data, but nothing of it is kept.
namespace {

CUresult tell_capture(const StreamCalls& calls, cudaStream_t stream,
                      cudaStreamCaptureStatus* status, unsigned long long* id,
                      cudaGraph_t* graph = nullptr, const cudaGraphNode_t** dependencies = nullptr,
                      size_t* count = nullptr)
{
    cuuint64_t known_id = 0;
    const CUresult result =
        calls.cuStreamGetCaptureInfo(stream, reinterpret_cast<CUstreamCaptureStatus*>(status),
                                     &known_id, graph, dependencies, count);
    if (result == CUDA_SUCCESS && id)
        *id = known_id;
    return result;
}

} // namespace

#if CUDA_VERSION < 12000
SIMGPU_STREAM_FUNCTION(cudaStreamGetCaptureInfo, _ptsz,
                       (cudaStream_t stream, cudaStreamCaptureStatus* pCaptureStatus,
                        unsigned long long* pId),
                       { return tell_capture(calls, stream, pCaptureStatus, pId); })
#endif
#if CUDA_VERSION < 13000
SIMGPU_STREAM_FUNCTION(cudaStreamGetCaptureInfo_v2, _ptsz,
                       (cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out,
                        unsigned long long* id_out, cudaGraph_t* graph_out,
                        const cudaGraphNode_t** dependencies_out, size_t* numDependencies_out),
                       {
                           return tell_capture(calls, stream, captureStatus_out, id_out, graph_out,
                                               dependencies_out, numDependencies_out);
                       })
SIMGPU_STREAM_FUNCTION(cudaStreamUpdateCaptureDependencies, _ptsz,
                       (cudaStream_t stream, cudaGraphNode_t* dependencies, size_t numDependencies,
                        unsigned int flags),
                       {
                           return calls.cuStreamUpdateCaptureDependencies(stream, dependencies,
                                                                          numDependencies, flags);
                       })
#endif

// CUDA 13 gave the newest forms the plain names.
#if CUDA_VERSION >= 13000
#define NEWEST_CAPTURE_INFO cudaStreamGetCaptureInfo
#define NEWEST_UPDATE_DEPENDENCIES cudaStreamUpdateCaptureDependencies
#else
#define NEWEST_CAPTURE_INFO cudaStreamGetCaptureInfo_v3
#define NEWEST_UPDATE_DEPENDENCIES cudaStreamUpdateCaptureDependencies_v2
#endif

#if CUDA_VERSION >= 12030
SIMGPU_STREAM_FUNCTION(NEWEST_CAPTURE_INFO, _ptsz,
                       (cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out,
                        unsigned long long* id_out, cudaGraph_t* graph_out,
                        const cudaGraphNode_t** dependencies_out,
                        const cudaGraphEdgeData** edgeData_out, size_t* numDependencies_out),
                       {
                           if (edgeData_out)
                               *edgeData_out = nullptr;
                           return tell_capture(calls, stream, captureStatus_out, id_out, graph_out,
                                               dependencies_out, numDependencies_out);
                       })
SIMGPU_STREAM_FUNCTION(NEWEST_UPDATE_DEPENDENCIES, _ptsz,
                       (cudaStream_t stream, cudaGraphNode_t* dependencies,
                        const cudaGraphEdgeData*, size_t numDependencies, unsigned int flags),
                       {
                           return calls.cuStreamUpdateCaptureDependencies(stream, dependencies,
                                                                          numDependencies, flags);
                       })
SIMGPU_STREAM_FUNCTION(cudaStreamBeginCaptureToGraph, _ptsz,
                       (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                        const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                        cudaStreamCaptureMode mode),
                       {
                           return calls.cuStreamBeginCaptureToGraph(
                               stream, graph, dependencies,
                               reinterpret_cast<const CUgraphEdgeData*>(dependencyData),
                               numDependencies, static_cast<CUstreamCaptureMode>(mode));
                       })
#endif
