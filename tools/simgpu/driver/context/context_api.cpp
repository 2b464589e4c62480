// tools/simgpu/driver/context/context_api.cpp — cuCtx*: life, stack of current contexts, limits.
#include <functional>

#include "api.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/context/own_bytes.hpp"
#include "tools/simgpu/driver/context/thread_state.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {
namespace {

constexpr unsigned kNewestApi = 3020;
constexpr unsigned kOldApi = 3010;

CUresult create(CUcontext* handle, unsigned flags, CUdevice ordinal, unsigned api_version)
{
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    Device* device = device_at(ordinal);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if ((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = open_context(*device, flags, api_version);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    push_current(*context);
    *handle = reinterpret_cast<CUcontext>(context);
    return CUDA_SUCCESS;
}

// The context of the handle, or the current one where no handle is given.
CUresult given_or_current(CUcontext handle, Context*& context)
{
    return handle ? context_of_handle(handle, context) : current_context(context);
}

// Tells one property of such a context.
template <class T, class Property>
CUresult tell_of_context(CUcontext handle, T* out, Property property)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (const CUresult error = given_or_current(handle, context))
        return error;
    *out = std::invoke(property, *context);
    return CUDA_SUCCESS;
}

int ordinal_of(const Context& context)
{
    return context.device->ordinal();
}

CUresult synchronize(Context& context)
{
    if (const CUresult refused = refuse_to_wait(context))
        return refused;
    finish_all(context);
    trim_pools_after_sync();
    return context.sticky_error;
}

} // namespace

namespace api {

CUresult cuCtxCreate(CUcontext* pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev, kOldApi);
}

CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev, kNewestApi);
}

CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam* paramsArray, int numParams,
                        unsigned int flags, CUdevice dev)
{
    if (numParams < 0 || (numParams > 0 && !paramsArray))
        return CUDA_ERROR_INVALID_VALUE;
    return numParams > 0 ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                         : create(pctx, flags, dev, kNewestApi);
}

#if CUDA_VERSION >= 12050
CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags,
                        CUdevice dev)
{
    // At most one of the two may be given (cuda.h). Zeroed parameters ask for nothing, as a
    // null pointer does.
    if (!ctxCreateParams)
        return create(pctx, flags, dev, kNewestApi);
    if (ctxCreateParams->execAffinityParams && ctxCreateParams->cigParams)
        return CUDA_ERROR_INVALID_VALUE;
    if (ctxCreateParams->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    return api::cuCtxCreate_v3(pctx, ctxCreateParams->execAffinityParams,
                               ctxCreateParams->numExecAffinityParams, flags, dev);
}
#endif

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    Context* context = nullptr;
    if (const CUresult error = context_of_handle(ctx, context))
        return error;
    if (context->primary) // only its release or reset ends it
        return CUDA_ERROR_INVALID_CONTEXT;
    auto& current = thread_state().current;
    if (!current.empty() && current.back().context == context)
        current.pop_back();
    close_context(*context);
    return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext* pctx, unsigned int flags)
{
    if (!pctx || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    ++context->attached;
    *pctx = reinterpret_cast<CUcontext>(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext ctx)
{
    Context* context = nullptr;
    if (const CUresult error = context_of_handle(ctx, context))
        return error;
    return --context->attached > 0 ? CUDA_SUCCESS : api::cuCtxDestroy_v2(ctx);
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    Context* context = nullptr;
    if (const CUresult error = context_of_handle(ctx, context))
        return error;
    push_current(*context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* pctx)
{
    auto& current = thread_state().current;
    if (current.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx)
        *pctx = reinterpret_cast<CUcontext>(current.back().context);
    current.pop_back();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    auto& current = thread_state().current;
    Context* context = nullptr;
    if (ctx) {
        if (const CUresult error = context_of_handle(ctx, context))
            return error;
    }
    if (!current.empty())
        current.pop_back();
    if (context)
        push_current(*context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* pctx)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    const auto& current = thread_state().current;
    *pctx = current.empty() ? nullptr : reinterpret_cast<CUcontext>(current.back().context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device)
{
    return tell_of_context(nullptr, device, ordinal_of);
}

#if CUDA_VERSION >= 13000
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx)
{
    return tell_of_context(ctx, device, ordinal_of);
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    Context* context = nullptr;
    if (const CUresult error = given_or_current(ctx, context))
        return error;
    return synchronize(*context);
}
#endif

CUresult cuCtxSynchronize(Context& context)
{
    return synchronize(context);
}

CUresult cuCtxGetFlags(unsigned int* flags)
{
    return tell_of_context(nullptr, flags, &Context::flags);
}

#if CUDA_VERSION >= 12010
CUresult cuCtxSetFlags(Context& context, unsigned int flags)
{
    context.flags = flags;
    return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 12000
CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId)
{
    return tell_of_context(ctx, ctxId, &Context::id);
}
#endif

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version)
{
    return tell_of_context(ctx, version, &Context::api_version);
}

CUresult cuCtxSetLimit(Context& context, CUlimit limit, size_t value)
{
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    OwnBytes own; // given back with the context alone
    if (value > context.limits[limit] && !own.take(context, object_bytes().limit))
        return CUDA_ERROR_OUT_OF_MEMORY;
    context.limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit)
{
    if (!pvalue)
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *pvalue = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig)
{
    return tell_of_context(nullptr, pconfig, &Context::cache_config);
}

CUresult cuCtxSetCacheConfig(Context& context, CUfunc_cache config)
{
    if (static_cast<unsigned>(config) > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    context.cache_config = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig)
{
    return tell_of_context(nullptr, pConfig, &Context::shared_config);
}

CUresult cuCtxSetSharedMemConfig(Context& context, CUsharedconfig config)
{
    if (static_cast<unsigned>(config) > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return CUDA_ERROR_INVALID_VALUE;
    context.shared_config = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(Context&, int* leastPriority, int* greatestPriority)
{
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(Context&)
{
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
