// tools/simgpu/driver/stream/stream_api.cpp — cuStream*, events, callbacks and host functions.
#include "api.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {
namespace {

// Tells one property of the stream that a handle means.
template <class T, class Property>
CUresult tell_of_stream(CUstream handle, T* out, Property property)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(handle, stream))
        return error;
    *out = property(*stream);
    return CUDA_SUCCESS;
}

CUresult create(Context& context, CUstream* handle, unsigned flags, int priority)
{
    if (!handle || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    OwnBytes own;
    if (!own.take(context, object_bytes().stream))
        return CUDA_ERROR_OUT_OF_MEMORY;
    Stream* const stream = open_stream(context, flags, priority);
    stream->own = own;
    *handle = reinterpret_cast<CUstream>(stream);
    return CUDA_SUCCESS;
}

bool is_default(CUstream handle)
{
    return !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

} // namespace

namespace api {

CUresult cuStreamCreate(Context& context, CUstream* phStream, unsigned int Flags)
{
    return create(context, phStream, Flags, 0);
}

CUresult cuStreamCreateWithPriority(Context& context, CUstream* phStream, unsigned int flags,
                                    int priority)
{
    return create(context, phStream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream hStream)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    if (is_default(hStream))
        return CUDA_ERROR_INVALID_HANDLE;
    abandon_capture(*stream);
    close_stream(*stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream hStream)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    if (const CUresult refused = refuse_to_wait(*stream))
        return refused;
    Context* const context = stream->context;
    // The legacy stream stands for all blocking ones, so a piece of work that does nothing
    // waits for them.
    finish(stream == context->legacy_stream ? enqueue(*stream, {}) : tail_of(*stream));
    trim_pools_after_sync();
    return context->sticky_error;
}

CUresult cuStreamQuery(CUstream hStream)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    if (const CUresult refused = refuse_to_wait(*stream))
        return refused;
    if (stream == stream->context->legacy_stream && stream->context->pending.load() > 0)
        return CUDA_ERROR_NOT_READY;
    return idle(*stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority)
{
    return tell_of_stream(hStream, priority, [](const Stream& stream) { return stream.priority; });
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags)
{
    return tell_of_stream(hStream, flags, [](const Stream& stream) { return stream.flags; });
}

#if CUDA_VERSION >= 12000
CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId)
{
    return tell_of_stream(hStream, streamId, [](const Stream& stream) { return stream.id; });
}
#endif

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx)
{
    return tell_of_stream(hStream, pctx, [](const Stream& stream) {
        return reinterpret_cast<CUcontext>(stream.context);
    });
}

#if CUDA_VERSION >= 12050
CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx)
{
    const CUresult result = api::cuStreamGetCtx(hStream, pCtx);
    return result == CUDA_SUCCESS && pGreenCtx ? api::cuStreamGetGreenCtx(hStream, pGreenCtx)
                                               : result;
}
#endif

#if CUDA_VERSION >= 12080
CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device)
{
    return tell_of_stream(hStream, device,
                          [](const Stream& stream) { return stream.context->device->ordinal(); });
}
#endif

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData)
{
    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    Submission submission;
    submission.type = CU_GRAPH_NODE_TYPE_HOST;
    submission.work.run = [fn, userData] { return run_host_function(fn, userData); };
    return submit(*stream, std::move(submission));
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData,
                             unsigned int flags)
{
    if (!callback || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    if (const CUresult refused = refuse_to_wait(*stream))
        return refused;
    struct Call {
        CUstreamCallback callback;
        CUstream stream;
        void* argument;
    };
    Submission submission;
    submission.type = CU_GRAPH_NODE_TYPE_HOST;
    submission.work.run = [call = Call{callback, hStream, userData}]() mutable {
        return run_host_function(
            [](void* data) {
                const auto* made = static_cast<Call*>(data);
                made->callback(made->stream, CUDA_SUCCESS, made->argument);
            },
            &call);
    };
    return submit(*stream, std::move(submission));
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t, unsigned int)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    return known_to_driver(dptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace api
} // namespace simgpu
