// tools/simgpu/driver/other_api.cpp — the profiler switch, texture and surface handles: accepted,
// without effect.
#include "tools/simgpu/driver/context.hpp"

#include "api.hpp"

namespace simgpu {
namespace {

// A texture or surface object is a name for what it was made from.
struct Objects {
    std::mutex mutex;
    std::set<unsigned long long> living;
    unsigned long long last = 0;
};

Objects& objects()
{
    static auto* all = new Objects;
    return *all;
}

CUresult make_object(unsigned long long* handle, const void* described)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    if (!handle || !described)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(objects().mutex);
    *handle = *objects().living.insert(++objects().last).first;
    return CUDA_SUCCESS;
}

CUresult drop_object(unsigned long long handle)
{
    const std::lock_guard lock(objects().mutex);
    return objects().living.erase(handle) > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

namespace api {

CUresult cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}
CUresult cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC*, const CUDA_RESOURCE_VIEW_DESC*)
{
    return make_object(pTexObject, pResDesc);
}
CUresult cuTexObjectDestroy(CUtexObject texObject)
{
    return drop_object(texObject);
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc)
{
    return make_object(pSurfObject, pResDesc);
}
CUresult cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return drop_object(surfObject);
}

} // namespace api
} // namespace simgpu
