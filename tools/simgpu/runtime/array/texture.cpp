// tools/simgpu/runtime/array/texture.cpp — texture and surface objects.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "tools/simgpu/runtime/channel.hpp"

using namespace simgpu::runtime;

namespace {

CUresult resource_of(const cudaResourceDesc& given, CUDA_RESOURCE_DESC& same)
{
    constexpr CUresult kBadChannels = static_cast<CUresult>(cudaErrorInvalidChannelDescriptor);
    same = {};
    same.resType = static_cast<CUresourcetype>(given.resType);
    switch (given.resType) {
    case cudaResourceTypeArray:
        same.res.array.hArray = reinterpret_cast<CUarray>(given.res.array.array);
        return CUDA_SUCCESS;
    case cudaResourceTypeMipmappedArray:
        same.res.mipmap.hMipmappedArray =
            reinterpret_cast<CUmipmappedArray>(given.res.mipmap.mipmap);
        return CUDA_SUCCESS;
    case cudaResourceTypeLinear: {
        auto& linear = same.res.linear;
        linear.devPtr = address_of(given.res.linear.devPtr);
        linear.sizeInBytes = given.res.linear.sizeInBytes;
        return format_of(given.res.linear.desc, linear.format, linear.numChannels) ? CUDA_SUCCESS
                                                                                   : kBadChannels;
    }
    case cudaResourceTypePitch2D: {
        auto& pitched = same.res.pitch2D;
        pitched.devPtr = address_of(given.res.pitch2D.devPtr);
        pitched.width = given.res.pitch2D.width;
        pitched.height = given.res.pitch2D.height;
        pitched.pitchInBytes = given.res.pitch2D.pitchInBytes;
        return format_of(given.res.pitch2D.desc, pitched.format, pitched.numChannels)
                   ? CUDA_SUCCESS
                   : kBadChannels;
    }
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& given)
{
    cudaResourceDesc same;
    std::memset(&same, 0, sizeof same);
    same.resType = static_cast<cudaResourceType>(given.resType);
    if (given.resType == CU_RESOURCE_TYPE_ARRAY) {
        same.res.array.array = reinterpret_cast<cudaArray_t>(given.res.array.hArray);
    } else if (given.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        same.res.mipmap.mipmap =
            reinterpret_cast<cudaMipmappedArray_t>(given.res.mipmap.hMipmappedArray);
    } else if (given.resType == CU_RESOURCE_TYPE_LINEAR) {
        const auto& linear = given.res.linear;
        same.res.linear.devPtr = reinterpret_cast<void*>(linear.devPtr);
        same.res.linear.desc = channels_of(linear.format, linear.numChannels);
        same.res.linear.sizeInBytes = linear.sizeInBytes;
    } else {
        const auto& pitched = given.res.pitch2D;
        same.res.pitch2D.devPtr = reinterpret_cast<void*>(pitched.devPtr);
        same.res.pitch2D.desc = channels_of(pitched.format, pitched.numChannels);
        same.res.pitch2D.width = pitched.width;
        same.res.pitch2D.height = pitched.height;
        same.res.pitch2D.pitchInBytes = pitched.pitchInBytes;
    }
    return same;
}

// What the driver's description and the runtime's have in common, in either direction.
template <class From, class To>
void copy_texture(const From& from, To& to)
{
    for (int axis = 0; axis < 3; ++axis)
        to.addressMode[axis] =
            static_cast<std::remove_extent_t<decltype(to.addressMode)>>(from.addressMode[axis]);
    to.filterMode = static_cast<decltype(to.filterMode)>(from.filterMode);
    to.maxAnisotropy = from.maxAnisotropy;
    to.mipmapFilterMode = static_cast<decltype(to.mipmapFilterMode)>(from.mipmapFilterMode);
    to.mipmapLevelBias = from.mipmapLevelBias;
    to.minMipmapLevelClamp = from.minMipmapLevelClamp;
    to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
    std::copy(std::begin(from.borderColor), std::end(from.borderColor), to.borderColor);
}

// CUDA 11.8 has two forms of the runtime's description; only the second knows cubemaps.
template <class Description>
CUDA_TEXTURE_DESC texture_of(const Description& given)
{
    CUDA_TEXTURE_DESC same{};
    copy_texture(given, same);
    const auto flag = [&same](bool set, unsigned bit) { same.flags |= set ? bit : 0; };
    flag(given.readMode == cudaReadModeElementType, CU_TRSF_READ_AS_INTEGER);
    flag(given.normalizedCoords != 0, CU_TRSF_NORMALIZED_COORDINATES);
    flag(given.sRGB != 0, CU_TRSF_SRGB);
    flag(given.disableTrilinearOptimization != 0, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
    if constexpr (requires { given.seamlessCubemap; })
        flag(given.seamlessCubemap != 0, CU_TRSF_SEAMLESS_CUBEMAP);
    return same;
}

template <class Description>
void tell_texture(const CUDA_TEXTURE_DESC& given, Description& same)
{
    same = {};
    copy_texture(given, same);
    const auto flagged = [&given](unsigned bit) { return (given.flags & bit) != 0 ? 1 : 0; };
    same.readMode =
        flagged(CU_TRSF_READ_AS_INTEGER) ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    same.normalizedCoords = flagged(CU_TRSF_NORMALIZED_COORDINATES);
    same.sRGB = flagged(CU_TRSF_SRGB);
    same.disableTrilinearOptimization = flagged(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
    if constexpr (requires { same.seamlessCubemap; })
        same.seamlessCubemap = flagged(CU_TRSF_SEAMLESS_CUBEMAP);
}

// Both have the same fields; before CUDA 13 the driver's form has some more, which are reserved.
template <class To, class From>
To view_of(const From& given)
{
    To same{};
    same.format = static_cast<decltype(same.format)>(given.format);
    same.width = given.width;
    same.height = given.height;
    same.depth = given.depth;
    same.firstMipmapLevel = given.firstMipmapLevel;
    same.lastMipmapLevel = given.lastMipmapLevel;
    same.firstLayer = given.firstLayer;
    same.lastLayer = given.lastLayer;
    return same;
}

template <class Description>
cudaError_t create_texture(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                           const Description* texture, const cudaResourceViewDesc* view)
{
    return enter([&](const Driver& driver) -> CUresult {
        if (!resource || !texture)
            return CUDA_ERROR_INVALID_VALUE;
        CUDA_RESOURCE_DESC same;
        if (const CUresult error = resource_of(*resource, same))
            return error;
        const CUDA_TEXTURE_DESC same_texture = texture_of(*texture);
        const auto same_view =
            view ? view_of<CUDA_RESOURCE_VIEW_DESC>(*view) : CUDA_RESOURCE_VIEW_DESC{};
        return driver.cuTexObjectCreate(object, &same, &same_texture, view ? &same_view : nullptr);
    });
}

template <class Description>
cudaError_t get_texture(Description* texture, cudaTextureObject_t object)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_TEXTURE_DESC known{};
        if (!texture)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = driver.cuTexObjectGetTextureDesc(&known, object);
        if (result == CUDA_SUCCESS)
            tell_texture(known, *texture);
        return result;
    });
}

using GetResource = PFN_cuTexObjectGetResourceDesc_v5000;

cudaError_t get_resource(cudaResourceDesc* resource, unsigned long long object,
                         GetResource Driver::*get)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_RESOURCE_DESC known{};
        if (!resource)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = (driver.*get)(&known, object);
        if (result == CUDA_SUCCESS)
            *resource = resource_of(known);
        return result;
    });
}

} // namespace

SIMGPU_RUNTIME cudaError_t cudaCreateTextureObject(cudaTextureObject_t* pTexObject,
                                                   const cudaResourceDesc* pResDesc,
                                                   const cudaTextureDesc* pTexDesc,
                                                   const cudaResourceViewDesc* pResViewDesc)
{
    return create_texture(pTexObject, pResDesc, pTexDesc, pResViewDesc);
}

SIMGPU_RUNTIME cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* pTexDesc,
                                                           cudaTextureObject_t texObject)
{
    return get_texture(pTexDesc, texObject);
}

#if CUDART_VERSION < 12000
SIMGPU_RUNTIME cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t* pTexObject,
                                                      const cudaResourceDesc* pResDesc,
                                                      const cudaTextureDesc_v2* pTexDesc,
                                                      const cudaResourceViewDesc* pResViewDesc)
{
    return create_texture(pTexObject, pResDesc, pTexDesc, pResViewDesc);
}

SIMGPU_RUNTIME cudaError_t cudaGetTextureObjectTextureDesc_v2(cudaTextureDesc_v2* pTexDesc,
                                                              cudaTextureObject_t texObject)
{
    return get_texture(pTexDesc, texObject);
}
#endif

SIMGPU_RUNTIME cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* pResDesc,
                                                            cudaTextureObject_t texObject)
{
    return get_resource(pResDesc, texObject, &Driver::cuTexObjectGetResourceDesc);
}

SIMGPU_RUNTIME cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* pResViewDesc,
                                                                cudaTextureObject_t texObject)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_RESOURCE_VIEW_DESC known{};
        if (!pResViewDesc)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = driver.cuTexObjectGetResourceViewDesc(&known, texObject);
        if (result == CUDA_SUCCESS)
            *pResViewDesc = view_of<cudaResourceViewDesc>(known);
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* pSurfObject,
                                                   const cudaResourceDesc* pResDesc)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_RESOURCE_DESC same;
        if (!pResDesc)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult error = resource_of(*pResDesc, same);
        return error != CUDA_SUCCESS ? error : driver.cuSurfObjectCreate(pSurfObject, &same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* pResDesc,
                                                            cudaSurfaceObject_t surfObject)
{
    return get_resource(pResDesc, surfObject, &Driver::cuSurfObjectGetResourceDesc);
}
