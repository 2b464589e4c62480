// tools/simgpu/driver/array/texture_api.cpp — cuTexObject*, cuSurfObject*: checked, kept and told.
#include <map>
#include <optional>

#include "api.hpp"
#include "tools/simgpu/driver/array/array.hpp"

namespace simgpu {
namespace {

constexpr std::uintptr_t kTextureAlignment = 512;
constexpr std::size_t kPitchAlignment = 32;

// A surface leaves texture and view empty. Kernels do nothing, so nothing reads through either.
struct Texture {
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

// Handles are numbers, and no number is given out twice.
struct Textures {
    std::mutex mutex;
    std::map<unsigned long long, Texture> living;
    unsigned long long last = 0;
};

Textures& textures()
{
    static auto* all = new Textures;
    return *all;
}

Textures& surfaces()
{
    static auto* all = new Textures;
    return *all;
}

bool has_place(const CUDA_RESOURCE_DESC& resource)
{
    switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return slots<Array>().find(resource.res.array.hArray) != nullptr;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return slots<Mipmap>().find(resource.res.mipmap.hMipmappedArray) != nullptr;
    case CU_RESOURCE_TYPE_LINEAR:
        return resource.res.linear.devPtr != 0 &&
               resource.res.linear.devPtr % kTextureAlignment == 0 &&
               resource.res.linear.sizeInBytes > 0;
    case CU_RESOURCE_TYPE_PITCH2D:
        return resource.res.pitch2D.devPtr != 0 &&
               resource.res.pitch2D.devPtr % kTextureAlignment == 0 &&
               resource.res.pitch2D.pitchInBytes % kPitchAlignment == 0 &&
               resource.res.pitch2D.width > 0 && resource.res.pitch2D.height > 0;
    default:
        return false;
    }
}

bool is_array(const CUDA_RESOURCE_DESC& resource)
{
    return resource.resType == CU_RESOURCE_TYPE_ARRAY ||
           resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
}

void keep(Textures& all, unsigned long long* handle, const Texture& made)
{
    const std::lock_guard lock(all.mutex);
    *handle = ++all.last;
    all.living.emplace(*handle, made);
}

CUresult drop(Textures& all, unsigned long long handle)
{
    const std::lock_guard lock(all.mutex);
    return all.living.erase(handle) > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <class T, class Part>
CUresult tell(Textures& all, unsigned long long handle, T* out, Part part)
{
    const std::lock_guard lock(all.mutex);
    const auto found = all.living.find(handle);
    if (!out || found == all.living.end())
        return CUDA_ERROR_INVALID_VALUE;
    return part(found->second, *out);
}

CUresult tell_resource(Textures& all, unsigned long long handle, CUDA_RESOURCE_DESC* out)
{
    return tell(all, handle, out, [](const Texture& known, CUDA_RESOURCE_DESC& resource) {
        resource = known.resource;
        return CUDA_SUCCESS;
    });
}

} // namespace

namespace api {

CUresult cuTexObjectCreate(Context&, CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC* pResViewDesc)
{
    if (!pTexObject || !pResDesc || !pTexDesc || pResDesc->flags != 0 || !has_place(*pResDesc) ||
        (pResViewDesc && !is_array(*pResDesc)))
        return CUDA_ERROR_INVALID_VALUE;
    Texture made{*pResDesc, *pTexDesc, std::nullopt};
    if (pResViewDesc)
        made.view = *pResViewDesc;
    keep(textures(), pTexObject, made);
    return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject texObject)
{
    return drop(textures(), texObject);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject)
{
    return tell_resource(textures(), texObject, pResDesc);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject)
{
    return tell(textures(), texObject, pTexDesc,
                [](const Texture& known, CUDA_TEXTURE_DESC& texture) {
                    texture = known.texture;
                    return CUDA_SUCCESS;
                });
}

// It is an error if none was given (cuda.h).
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc,
                                        CUtexObject texObject)
{
    return tell(textures(), texObject, pResViewDesc,
                [](const Texture& known, CUDA_RESOURCE_VIEW_DESC& view) {
                    if (!known.view)
                        return CUDA_ERROR_INVALID_VALUE;
                    view = *known.view;
                    return CUDA_SUCCESS;
                });
}

CUresult cuSurfObjectCreate(Context&, CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc)
{
    if (!pSurfObject || !pResDesc || pResDesc->flags != 0 ||
        pResDesc->resType != CU_RESOURCE_TYPE_ARRAY || !has_place(*pResDesc))
        return CUDA_ERROR_INVALID_VALUE;
    keep(surfaces(), pSurfObject, {*pResDesc, {}, std::nullopt});
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return drop(surfaces(), surfObject);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject)
{
    return tell_resource(surfaces(), surfObject, pResDesc);
}

} // namespace api
} // namespace simgpu
