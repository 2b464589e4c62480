// tools/simgpu/driver/array_api.cpp — CUDA arrays and mipmapped arrays.
//
// Rows are padded to 512 B and the whole to 64 KiB: a guess, as a device's tiling is not known.
// Memory requirements are told for arrays with deferred mapping only, as cuda.h says; such an array
// has no memory.
#include "tools/simgpu/driver/allocation.hpp"
#include "tools/simgpu/driver/array.hpp"
#include "tools/simgpu/driver/capture.hpp"

#include "api.hpp"

#include <algorithm>

namespace simgpu {
namespace {

constexpr std::size_t kRowStep = 512;
constexpr std::size_t kArrayStep = std::size_t{64} << 10;
constexpr unsigned kMostLevels = 17;

struct Mipmap {
    std::atomic<bool> alive{false};
    Context* context = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    std::vector<Array*> levels;
};

Slots<Mipmap>& mipmaps()
{
    static auto* all = new Slots<Mipmap>;
    return *all;
}

std::size_t format_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

CUresult open_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, Array*& array)
{
    const std::size_t element = format_bytes(descriptor.Format) * descriptor.NumChannels;
    const bool channels =
        descriptor.NumChannels == 1 || descriptor.NumChannels == 2 || descriptor.NumChannels == 4;
    if (element == 0 || !channels || descriptor.Width == 0 ||
        descriptor.Width > std::size_t{1} << 27 || descriptor.Height > std::size_t{1} << 17 ||
        descriptor.Depth > std::size_t{1} << 14)
        return CUDA_ERROR_INVALID_VALUE;
    array = arrays().make();
    array->descriptor = descriptor;
    array->context = &context;
    array->device = context.device;
    array->pitch = round_up(descriptor.Width * element, kRowStep);
    array->slice = array->pitch * std::max<std::size_t>(1, descriptor.Height);
    array->bytes = round_up(array->slice * std::max<std::size_t>(1, descriptor.Depth), kArrayStep);
    array->start = 0;
    array->part_of_mipmap = false;
    if ((descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0)
        return CUDA_SUCCESS;
    const std::lock_guard lock(memory_mutex());
    array->start = array->device->take(array->bytes);
    if (!array->start) {
        arrays().retire(array);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    Allocation allocation; // for copies; the program does not learn the address
    allocation.start = array->start;
    allocation.bytes = array->bytes;
    allocation.kind = Kind::array;
    allocation.device = array->device;
    add_allocation_locked(allocation);
    return CUDA_SUCCESS;
}

void close_array(Array& array)
{
    if (array.start) {
        const std::lock_guard lock(memory_mutex());
        drop_allocation_locked(*allocation_at_locked(array.start));
    }
    arrays().retire(&array);
}

void close_mipmap(Mipmap& mipmap)
{
    for (Array* level : mipmap.levels)
        close_array(*level);
    mipmap.levels.clear();
    mipmaps().retire(&mipmap);
}

CUresult check(Context*& context)
{
    if (const CUresult error = current_context(context))
        return error;
    return refuse_during_capture();
}

template <class Narrow>
CUDA_ARRAY3D_DESCRIPTOR widen(const Narrow& descriptor)
{
    CUDA_ARRAY3D_DESCRIPTOR wide{};
    wide.Width = descriptor.Width;
    wide.Height = descriptor.Height;
    wide.Format = descriptor.Format;
    wide.NumChannels = descriptor.NumChannels;
    return wide;
}

CUDA_ARRAY3D_DESCRIPTOR widen(const CUDA_ARRAY3D_DESCRIPTOR_v1& descriptor)
{
    return {descriptor.Width,  descriptor.Height,      descriptor.Depth,
            descriptor.Format, descriptor.NumChannels, descriptor.Flags};
}

CUresult requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out,
                      const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::size_t bytes)
{
    if (!out || (descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *out = {};
    out->size = bytes;
    out->alignment = kArrayStep;
    return CUDA_SUCCESS;
}

template <class Descriptor>
CUresult create(CUarray* handle, const Descriptor* descriptor)
{
    Context* context = nullptr;
    if (const CUresult error = check(context))
        return error;
    if (!handle || !descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    Array* array = nullptr;
    const CUresult result = open_array(*context, widen(*descriptor), array);
    if (result == CUDA_SUCCESS)
        *handle = reinterpret_cast<CUarray>(array);
    return result;
}

} // namespace

Slots<Array>& arrays()
{
    static auto* all = new Slots<Array>;
    return *all;
}

Plane plane_of(const Array& array)
{
    return {array.start, array.pitch, array.slice, false};
}

void free_arrays_of(Context& context)
{
    for (Mipmap* mipmap : mipmaps().all())
        if (mipmap->context == &context)
            close_mipmap(*mipmap);
    for (Array* array : arrays().all())
        if (array->context == &context)
            close_array(*array);
}

namespace api {

CUresult cuArrayCreate_v2(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray)
{
    return create(pHandle, pAllocateArray);
}
CUresult cuArrayCreate(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR_v1* pAllocateArray)
{
    return create(pHandle, pAllocateArray);
}
CUresult cuArray3DCreate(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1* pAllocateArray)
{
    return create(pHandle, pAllocateArray);
}

CUresult cuArray3DCreate_v2(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray)
{
    Context* context = nullptr;
    if (const CUresult error = check(context))
        return error;
    if (!pHandle || !pAllocateArray)
        return CUDA_ERROR_INVALID_VALUE;
    Array* array = nullptr;
    const CUresult result = open_array(*context, *pAllocateArray, array);
    if (result == CUDA_SUCCESS)
        *pHandle = reinterpret_cast<CUarray>(array);
    return result;
}

CUresult cuArrayDestroy(CUarray hArray)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    Array* array = arrays().find(hArray);
    if (!array || array->part_of_mipmap)
        return CUDA_ERROR_INVALID_HANDLE;
    finish_all(*context);
    close_array(*array);
    return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray)
{
    const Array* array = arrays().find(hArray);
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
    return arrays().find(hArray) ? CUDA_ERROR_INVALID_VALUE
                                 : CUDA_ERROR_INVALID_HANDLE; // no planar formats
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                      CUarray array, CUdevice device)
{
    const Array* found = arrays().find(array);
    if (!device_at(device))
        return CUDA_ERROR_INVALID_DEVICE;
    return found ? requirements(memoryRequirements, found->descriptor, found->bytes)
                 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels)
{
    Context* context = nullptr;
    if (const CUresult error = check(context))
        return error;
    if (!pHandle || !pMipmappedArrayDesc || numMipmapLevels == 0)
        return CUDA_ERROR_INVALID_VALUE;
    Mipmap* mipmap = mipmaps().make();
    mipmap->context = context;
    mipmap->descriptor = *pMipmappedArrayDesc;
    CUDA_ARRAY3D_DESCRIPTOR level = *pMipmappedArrayDesc;
    for (unsigned index = 0; index < std::min(numMipmapLevels, kMostLevels); ++index) {
        Array* array = nullptr;
        if (const CUresult error = open_array(*context, level, array)) {
            close_mipmap(*mipmap);
            return error;
        }
        array->part_of_mipmap = true;
        mipmap->levels.push_back(array);
        if (level.Width <= 1 && level.Height <= 1 && level.Depth <= 1)
            break;
        level.Width = std::max<std::size_t>(1, level.Width / 2);
        level.Height = level.Height ? std::max<std::size_t>(1, level.Height / 2) : 0;
        level.Depth = level.Depth ? std::max<std::size_t>(1, level.Depth / 2) : 0;
    }
    *pHandle = reinterpret_cast<CUmipmappedArray>(mipmap);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level)
{
    const Mipmap* mipmap = mipmaps().find(hMipmappedArray);
    if (!pLevelArray)
        return CUDA_ERROR_INVALID_VALUE;
    if (!mipmap)
        return CUDA_ERROR_INVALID_HANDLE;
    if (level >= mipmap->levels.size())
        return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = reinterpret_cast<CUarray>(mipmap->levels[level]);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    Mipmap* mipmap = mipmaps().find(hMipmappedArray);
    if (!mipmap)
        return CUDA_ERROR_INVALID_HANDLE;
    finish_all(*context);
    close_mipmap(*mipmap);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice device)
{
    const Mipmap* found = mipmaps().find(mipmap);
    if (!device_at(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    std::size_t bytes = 0;
    for (const Array* level : found->levels)
        bytes += level->bytes;
    return requirements(memoryRequirements, found->descriptor, bytes);
}

} // namespace api
} // namespace simgpu
