// tools/simgpu/driver/array/array_api.cpp — cuArray*.
#include "api.hpp"
#include "tools/simgpu/driver/array/array.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {
namespace {

// Every form as the 64-bit form with three axes; the others lack some of its fields.
template <class Descriptor>
CUDA_ARRAY3D_DESCRIPTOR widen_array(const Descriptor& descriptor)
{
    CUDA_ARRAY3D_DESCRIPTOR wide{};
    wide.Width = descriptor.Width;
    wide.Height = descriptor.Height;
    wide.Format = descriptor.Format;
    wide.NumChannels = descriptor.NumChannels;
    if constexpr (requires { descriptor.Depth; }) {
        wide.Depth = descriptor.Depth;
        wide.Flags = descriptor.Flags;
    }
    return wide;
}

template <class Descriptor>
CUresult create(Context& context, CUarray* handle, const Descriptor* descriptor)
{
    if (const CUresult refused = refuse_during_capture())
        return refused;
    if (!handle || !descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    Array* array = nullptr;
    const CUresult result = open_array(context, widen_array(*descriptor), array);
    if (result == CUDA_SUCCESS)
        *handle = reinterpret_cast<CUarray>(array);
    return result;
}

} // namespace

namespace api {

CUresult cuArrayCreate_v2(Context& context, CUarray* pHandle,
                          const CUDA_ARRAY_DESCRIPTOR* pAllocateArray)
{
    return create(context, pHandle, pAllocateArray);
}
CUresult cuArrayCreate(Context& context, CUarray* pHandle,
                       const CUDA_ARRAY_DESCRIPTOR_v1* pAllocateArray)
{
    return create(context, pHandle, pAllocateArray);
}
CUresult cuArray3DCreate_v2(Context& context, CUarray* pHandle,
                            const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray)
{
    return create(context, pHandle, pAllocateArray);
}
CUresult cuArray3DCreate(Context& context, CUarray* pHandle,
                         const CUDA_ARRAY3D_DESCRIPTOR_v1* pAllocateArray)
{
    return create(context, pHandle, pAllocateArray);
}

CUresult cuArrayDestroy(Context& context, CUarray hArray)
{
    Array* array = slots<Array>().find(hArray);
    if (!array || array->part_of_mipmap)
        return CUDA_ERROR_INVALID_HANDLE;
    finish_all(context);
    close_array(*array);
    return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray)
{
    const Array* array = slots<Array>().find(hArray);
    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    *pArrayDescriptor = array->descriptor;
    return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY3D_DESCRIPTOR whole{};
    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = api::cuArray3DGetDescriptor_v2(&whole, hArray);
    if (result == CUDA_SUCCESS)
        *pArrayDescriptor = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
    return result;
}

CUresult cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int)
{
    if (!pPlaneArray)
        return CUDA_ERROR_INVALID_VALUE;
    return slots<Array>().find(hArray) ? CUDA_ERROR_INVALID_VALUE
                                       : CUDA_ERROR_INVALID_HANDLE; // there are no planar formats
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                      CUarray array, CUdevice device)
{
    const Array* found = slots<Array>().find(array);
    if (!device_at(device))
        return CUDA_ERROR_INVALID_DEVICE;
    return found ? tell_requirements(memoryRequirements, found->descriptor, found->bytes)
                 : CUDA_ERROR_INVALID_HANDLE;
}

} // namespace api
} // namespace simgpu
