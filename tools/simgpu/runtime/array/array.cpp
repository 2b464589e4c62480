// tools/simgpu/runtime/array/array.cpp — cudaMallocArray and its kin, channel descriptors.
#include "tools/simgpu/runtime/channel.hpp"

using namespace simgpu::runtime;

namespace {

CUresult describe(const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags,
                  CUDA_ARRAY3D_DESCRIPTOR& out)
{
    out = {};
    out.Width = extent.width;
    out.Height = extent.height;
    out.Depth = extent.depth;
    out.Flags = flags; // the flags are the driver's own
    return desc && format_of(*desc, out.Format, out.NumChannels)
               ? CUDA_SUCCESS
               : result_of(cudaErrorInvalidChannelDescriptor);
}

CUresult allocate(const Driver& driver, cudaArray_t* array, const cudaChannelFormatDesc* desc,
                  cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR wanted{};
    if (const CUresult error = describe(desc, extent, flags, wanted))
        return error;
    return array ? driver.cuArray3DCreate(reinterpret_cast<CUarray*>(array), &wanted)
                 : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

SIMGPU_RUNTIME cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                           cudaChannelFormatKind f)
{
    return {x, y, z, w, f};
}

SIMGPU_RUNTIME cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                                           size_t width, size_t height, unsigned int flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        return allocate(driver, array, desc, {width, height, 0}, flags);
    });
}

SIMGPU_RUNTIME cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                                             cudaExtent extent, unsigned int flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        return allocate(driver, array, desc, extent, flags);
    });
}

SIMGPU_RUNTIME cudaError_t cudaFreeArray(cudaArray_t array)
{
    return enter([&](const Driver& driver) -> CUresult {
        return array ? driver.cuArrayDestroy(reinterpret_cast<CUarray>(array)) : CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmappedArray,
                                                    const cudaChannelFormatDesc* desc,
                                                    cudaExtent extent, unsigned int numLevels,
                                                    unsigned int flags)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_ARRAY3D_DESCRIPTOR wanted{};
        if (const CUresult error = describe(desc, extent, flags, wanted))
            return error;
        return driver.cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(mipmappedArray),
                                             &wanted, numLevels);
    });
}

SIMGPU_RUNTIME cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    return enter([&](const Driver& driver) -> CUresult {
        return mipmappedArray ? driver.cuMipmappedArrayDestroy(
                                    reinterpret_cast<CUmipmappedArray>(mipmappedArray))
                              : CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent,
                                            unsigned int* flags, cudaArray_t array)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUDA_ARRAY3D_DESCRIPTOR known{};
        if (const CUresult error =
                driver.cuArray3DGetDescriptor(&known, reinterpret_cast<CUarray>(array)))
            return error;
        if (desc)
            *desc = channels_of(known.Format, known.NumChannels);
        if (extent)
            *extent = {known.Width, known.Height, known.Depth};
        if (flags)
            *flags = known.Flags;
        return CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array)
{
    return desc ? cudaArrayGetInfo(desc, nullptr, nullptr, const_cast<cudaArray_t>(array))
                : remember(cudaErrorInvalidValue);
}
