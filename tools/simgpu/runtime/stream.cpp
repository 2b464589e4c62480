// tools/simgpu/runtime/stream.cpp — streams and events.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaStreamCreate(cudaStream_t* pStream)
{
    return call(&Driver::cuStreamCreate, pStream, CU_STREAM_DEFAULT);
}

SIMGPU_RUNTIME cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags)
{
    return call(&Driver::cuStreamCreate, pStream, flags);
}

SIMGPU_RUNTIME cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags,
                                                        int priority)
{
    return call(&Driver::cuStreamCreateWithPriority, pStream, flags, priority);
}

SIMGPU_RUNTIME cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return call(&Driver::cuStreamDestroy, stream);
}

SIMGPU_STREAM_FUNCTION(cudaStreamSynchronize, _ptsz, (cudaStream_t stream),
                       { return calls.cuStreamSynchronize(stream); })
SIMGPU_STREAM_FUNCTION(cudaStreamQuery, _ptsz, (cudaStream_t stream),
                       { return calls.cuStreamQuery(stream); })
SIMGPU_STREAM_FUNCTION(cudaStreamWaitEvent, _ptsz,
                       (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
                       { return calls.cuStreamWaitEvent(stream, event, flags); })
SIMGPU_STREAM_FUNCTION(cudaStreamGetFlags, _ptsz, (cudaStream_t hStream, unsigned int* flags),
                       { return calls.cuStreamGetFlags(hStream, flags); })
SIMGPU_STREAM_FUNCTION(cudaStreamGetPriority, _ptsz, (cudaStream_t hStream, int* priority),
                       { return calls.cuStreamGetPriority(hStream, priority); })
#if CUDA_VERSION >= 12000
SIMGPU_STREAM_FUNCTION(cudaStreamGetId, _ptsz, (cudaStream_t hStream, unsigned long long* streamId),
                       { return calls.cuStreamGetId(hStream, streamId); })
#endif
SIMGPU_STREAM_FUNCTION(
    cudaStreamAddCallback, _ptsz,
    (cudaStream_t stream, cudaStreamCallback_t callback, void* userData, unsigned int flags), {
        return calls.cuStreamAddCallback(stream, reinterpret_cast<CUstreamCallback>(callback),
                                         userData, flags);
    })
SIMGPU_STREAM_FUNCTION(cudaStreamAttachMemAsync, _ptsz,
                       (cudaStream_t stream, void* devPtr, size_t length, unsigned int flags), {
                           return calls.cuStreamAttachMemAsync(stream, address_of(devPtr), length,
                                                               flags);
                       })

// The attributes and their values are the driver's.
SIMGPU_STREAM_FUNCTION(
    cudaStreamGetAttribute, _ptsz,
    (cudaStream_t hStream, cudaStreamAttrID attr, cudaStreamAttrValue* value_out), {
        static_assert(sizeof *value_out == sizeof(CUstreamAttrValue));
        return calls.cuStreamGetAttribute(hStream, static_cast<CUstreamAttrID>(attr),
                                          reinterpret_cast<CUstreamAttrValue*>(value_out));
    })
SIMGPU_STREAM_FUNCTION(
    cudaStreamSetAttribute, _ptsz,
    (cudaStream_t hStream, cudaStreamAttrID attr, const cudaStreamAttrValue* value), {
        return calls.cuStreamSetAttribute(hStream, static_cast<CUstreamAttrID>(attr),
                                          reinterpret_cast<const CUstreamAttrValue*>(value));
    })
SIMGPU_STREAM_FUNCTION(cudaStreamCopyAttributes, _ptsz, (cudaStream_t dst, cudaStream_t src),
                       { return calls.cuStreamCopyAttributes(dst, src); })

SIMGPU_RUNTIME cudaError_t cudaDeviceSynchronize(void)
{
    return call(&Driver::cuCtxSynchronize);
}

SIMGPU_RUNTIME cudaError_t cudaEventCreate(cudaEvent_t* event)
{
    return call(&Driver::cuEventCreate, event, CU_EVENT_DEFAULT);
}

SIMGPU_RUNTIME cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags)
{
    return call(&Driver::cuEventCreate, event, flags);
}

SIMGPU_RUNTIME cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return call(&Driver::cuEventDestroy, event);
}

SIMGPU_RUNTIME cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return call(&Driver::cuEventQuery, event);
}

SIMGPU_RUNTIME cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return call(&Driver::cuEventSynchronize, event);
}

SIMGPU_RUNTIME cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end)
{
    return call(&Driver::cuEventElapsedTime, ms, start, end);
}

SIMGPU_STREAM_FUNCTION(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream),
                       { return calls.cuEventRecord(event, stream); })
SIMGPU_STREAM_FUNCTION(cudaEventRecordWithFlags, _ptsz,
                       (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
                       { return calls.cuEventRecordWithFlags(event, stream, flags); })
