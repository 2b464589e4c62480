// tools/simgpu/runtime/array.cpp — cudaMallocArray and its kin, channel descriptors.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

namespace {

// Channels of one width and kind, as arrays have them.
bool format_of(const cudaChannelFormatDesc& desc, CUDA_ARRAY3D_DESCRIPTOR& out)
{
    const int widths[] = {desc.x, desc.y, desc.z, desc.w};
    unsigned channels = 0;
    for (const int width : widths)
        channels += width > 0 ? 1 : 0;
    out.NumChannels = channels;
    if (desc.f == cudaChannelFormatKindFloat)
        out.Format = desc.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    else if (desc.f == cudaChannelFormatKindSigned)
        out.Format = desc.x == 8    ? CU_AD_FORMAT_SIGNED_INT8
                     : desc.x == 16 ? CU_AD_FORMAT_SIGNED_INT16
                                    : CU_AD_FORMAT_SIGNED_INT32;
    else if (desc.f == cudaChannelFormatKindUnsigned)
        out.Format = desc.x == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
                     : desc.x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                                    : CU_AD_FORMAT_UNSIGNED_INT32;
    else
        return false;
    return channels > 0;
}

CUresult describe(const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags,
                  CUDA_ARRAY3D_DESCRIPTOR& out)
{
    out = {};
    out.Width = extent.width;
    out.Height = extent.height;
    out.Depth = extent.depth;
    out.Flags = flags; // the runtime's array flags are the driver's
    return desc && format_of(*desc, out) ? CUDA_SUCCESS
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

SIMGPU_RUNTIME cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* levelArray,
                                                      cudaMipmappedArray_const_t mipmappedArray,
                                                      unsigned int level)
{
    return enter([&](const Driver& driver) -> CUresult {
        auto* const whole =
            reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray*>(mipmappedArray));
        return driver.cuMipmappedArrayGetLevel(reinterpret_cast<CUarray*>(levelArray), whole,
                                               level);
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
