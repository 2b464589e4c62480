// tools/simgpu/runtime/channel.cpp — channel descriptors as the driver's formats, and back.
#include "tools/simgpu/runtime/channel.hpp"

#include <algorithm>
#include <iterator>

namespace simgpu::runtime {
namespace {

struct Format {
    CUarray_format format;
    cudaChannelFormatKind kind;
    int bits;
};

constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

const Format* find(CUarray_format format)
{
    const auto* const found =
        std::find_if(std::begin(kFormats), std::end(kFormats),
                     [format](const Format& known) { return known.format == format; });
    return found == std::end(kFormats) ? nullptr : found;
}

} // namespace

bool format_of(const cudaChannelFormatDesc& desc, CUarray_format& format, unsigned& channels)
{
    const int widths[] = {desc.x, desc.y, desc.z, desc.w};
    const auto wide = [](int width) { return width > 0; };
    channels = static_cast<unsigned>(std::count_if(std::begin(widths), std::end(widths), wide));
    const auto* const found =
        std::find_if(std::begin(kFormats), std::end(kFormats), [&desc](const Format& known) {
            return known.kind == desc.f && known.bits == desc.x;
        });
    if (found == std::end(kFormats))
        return false;
    format = found->format;
    return true;
}

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels)
{
    const Format* const known = find(format);
    if (!known)
        return {0, 0, 0, 0, cudaChannelFormatKindNone};
    const auto width = [&](unsigned channel) { return channel < channels ? known->bits : 0; };
    return {width(0), width(1), width(2), width(3), known->kind};
}

size_t bytes_of(CUarray_format format)
{
    const Format* const known = find(format);
    return known ? static_cast<size_t>(known->bits) / 8 : 0;
}

} // namespace simgpu::runtime
