// tools/simgpu/runtime/capture.cpp — what is told of a stream capture.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

#if CUDART_VERSION < 12000
SIMGPU_STREAM_FUNCTION(cudaStreamGetCaptureInfo, _ptsz,
                       (cudaStream_t stream, cudaStreamCaptureStatus* pCaptureStatus,
                        unsigned long long* pId),
                       {
                           return pass(calls.cuStreamGetCaptureInfo, stream, pCaptureStatus, pId,
                                       nullptr, nullptr, nullptr);
                       })
#elif CUDART_VERSION >= 12030
// An edge has data, but nothing of it is kept.
SIMGPU_STREAM_FUNCTION(SIMGPU_NEWEST(cudaStreamGetCaptureInfo, _v3), _ptsz,
                       (cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out,
                        unsigned long long* id_out, cudaGraph_t* graph_out,
                        const cudaGraphNode_t** dependencies_out,
                        const cudaGraphEdgeData** edgeData_out, size_t* numDependencies_out),
                       {
                           if (edgeData_out)
                               *edgeData_out = nullptr;
                           return pass(calls.cuStreamGetCaptureInfo, stream, captureStatus_out,
                                       id_out, graph_out, dependencies_out, numDependencies_out);
                       })
#endif
