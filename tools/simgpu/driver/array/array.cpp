// tools/simgpu/driver/array/array.cpp — life of arrays and mipmapped arrays.
#include "tools/simgpu/driver/array/array.hpp"

#include <algorithm>

#include "tools/simgpu/driver/memory/allocation.hpp"

namespace simgpu {
namespace {

constexpr std::size_t kRowStep = 512;
constexpr unsigned kMostLevels = 17;

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

CUresult open_shape(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, Array*& array)
{
    const std::size_t element = element_bytes(descriptor);
    const bool channels =
        descriptor.NumChannels == 1 || descriptor.NumChannels == 2 || descriptor.NumChannels == 4;
    if (element == 0 || !channels || descriptor.Width == 0 ||
        descriptor.Width > std::size_t{1} << 27 || descriptor.Height > std::size_t{1} << 17 ||
        descriptor.Depth > std::size_t{1} << 14)
        return CUDA_ERROR_INVALID_VALUE;
    array = slots<Array>().make();
    array->descriptor = descriptor;
    array->context = &context;
    array->device = context.device;
    array->pitch = round_up(descriptor.Width * element, kRowStep);
    array->slice = array->pitch * std::max<std::size_t>(1, descriptor.Height);
    array->bytes = round_up(array->slice * std::max<std::size_t>(1, descriptor.Depth), kArrayStep);
    array->start = 0;
    array->owns_memory = false;
    array->part_of_mipmap = false;
    return CUDA_SUCCESS;
}

CUresult give_array_memory(Array& array)
{
    if ((array.descriptor.Flags & (CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_SPARSE)) != 0)
        return CUDA_SUCCESS;
    const std::lock_guard lock(memory_mutex());
    array.start = array.device->take(array.bytes);
    if (!array.start)
        return CUDA_ERROR_OUT_OF_MEMORY;
    array.owns_memory = true;
    // copies use it; the program does not learn the address
    add_allocation_locked(
        {.start = array.start, .bytes = array.bytes, .kind = Kind::array, .device = array.device});
    return CUDA_SUCCESS;
}

} // namespace

std::size_t Mipmap::bytes() const
{
    std::size_t sum = 0;
    for (const Array* level : levels)
        sum += level->bytes;
    return sum;
}

std::size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR& descriptor)
{
    return format_bytes(descriptor.Format) * descriptor.NumChannels;
}

Plane plane_of(const Array& array)
{
    return {array.start, array.pitch, array.slice, false};
}

CUresult tell_requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out,
                           const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::size_t bytes)
{
    if (!out || (descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *out = {};
    out->size = bytes;
    out->alignment = kArrayStep;
    return CUDA_SUCCESS;
}

CUresult open_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, Array*& array)
{
    Array* made = nullptr;
    if (const CUresult error = open_shape(context, descriptor, made))
        return error;
    const CUresult result = give_array_memory(*made);
    if (result == CUDA_SUCCESS)
        array = made;
    else
        slots<Array>().retire(made);
    return result;
}

void close_array(Array& array)
{
    const std::lock_guard lock(memory_mutex());
    unmap_array_locked(&array);
    if (array.owns_memory)
        drop_allocation_locked(*allocation_at_locked(array.start));
    slots<Array>().retire(&array);
}

CUresult open_mipmap(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels,
                     Mipmap*& mipmap)
{
    Mipmap* const made = slots<Mipmap>().make();
    made->context = &context;
    made->descriptor = descriptor;
    made->foreign = 0;
    CUDA_ARRAY3D_DESCRIPTOR level = descriptor;
    for (unsigned index = 0; index < std::min(levels, kMostLevels); ++index) {
        Array* array = nullptr;
        if (const CUresult error = open_shape(context, level, array)) {
            close_mipmap(*made);
            return error;
        }
        array->part_of_mipmap = true;
        made->levels.push_back(array);
        if (level.Width <= 1 && level.Height <= 1 && level.Depth <= 1)
            break;
        level.Width = std::max<std::size_t>(1, level.Width / 2);
        level.Height = level.Height ? std::max<std::size_t>(1, level.Height / 2) : 0;
        level.Depth = level.Depth ? std::max<std::size_t>(1, level.Depth / 2) : 0;
    }
    mipmap = made;
    return CUDA_SUCCESS;
}

CUresult give_memory(Mipmap& mipmap)
{
    for (Array* level : mipmap.levels)
        if (const CUresult error = give_array_memory(*level))
            return error;
    return CUDA_SUCCESS;
}

void close_mipmap(Mipmap& mipmap)
{
    for (Array* level : mipmap.levels)
        close_array(*level);
    mipmap.levels.clear();
    const std::lock_guard lock(memory_mutex());
    unmap_array_locked(&mipmap);
    if (mipmap.foreign)
        drop_allocation_locked(*find_allocation_locked(mipmap.foreign));
    slots<Mipmap>().retire(&mipmap);
}

void free_arrays_of(Context& context)
{
    for (Mipmap* mipmap : slots<Mipmap>().all())
        if (mipmap->context == &context)
            close_mipmap(*mipmap);
    for (Array* array : slots<Array>().all())
        if (array->context == &context)
            close_array(*array);
}

} // namespace simgpu
