// tools/simgpu/driver/array/mipmap_api.cpp — cuMipmappedArray*.
#include "api.hpp"
#include "tools/simgpu/driver/array/array.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu::api {

CUresult cuMipmappedArrayCreate(Context& context, CUmipmappedArray* pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    if (!pHandle || !pMipmappedArrayDesc || numMipmapLevels == 0)
        return CUDA_ERROR_INVALID_VALUE;
    Mipmap* mipmap = nullptr;
    if (const CUresult error = open_mipmap(context, *pMipmappedArrayDesc, numMipmapLevels, mipmap))
        return error;
    if (const CUresult error = give_memory(*mipmap)) {
        close_mipmap(*mipmap);
        return error;
    }
    *pHandle = reinterpret_cast<CUmipmappedArray>(mipmap);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level)
{
    const Mipmap* mipmap = slots<Mipmap>().find(hMipmappedArray);
    if (!pLevelArray)
        return CUDA_ERROR_INVALID_VALUE;
    if (!mipmap)
        return CUDA_ERROR_INVALID_HANDLE;
    if (level >= mipmap->levels.size())
        return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = reinterpret_cast<CUarray>(mipmap->levels[level]);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(Context& context, CUmipmappedArray hMipmappedArray)
{
    Mipmap* mipmap = slots<Mipmap>().find(hMipmappedArray);
    if (!mipmap)
        return CUDA_ERROR_INVALID_HANDLE;
    finish_all(context);
    close_mipmap(*mipmap);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice device)
{
    const Mipmap* found = slots<Mipmap>().find(mipmap);
    if (!device_at(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    return tell_requirements(memoryRequirements, found->descriptor, found->bytes());
}

} // namespace simgpu::api
