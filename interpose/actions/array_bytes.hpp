// interpose/actions/array_bytes.hpp — what an array takes, by its descriptor.
//
// The driver tells the size only of arrays that are mapped later, and those own no memory. It tells
// nothing of tiling and padding, so this is a lower bound.
#pragma once

#include <cstdint>

#include "interpose/hooks/hook.hpp"

namespace vramscope::hooks {

// Bits of one element with all its channels. The newer formats are given by number (cuda.h,
// CUarray_format): older toolkits lack their names. In planar formats the smaller planes
// are counted too.
constexpr std::uint64_t element_bits(int format, std::uint64_t channels) noexcept
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 16 * channels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 32 * channels;
    case 0x91: // BC1
    case 0x92:
    case 0x97: // BC4
    case 0x98:
        return 4;
    case 0x93: // BC2, BC3
    case 0x94:
    case 0x95:
    case 0x96:
    case 0x99: // BC5 to BC7
    case 0x9a:
    case 0x9b:
    case 0x9c:
    case 0x9d:
    case 0x9e:
    case 0xc0: // 8X1
    case 0xc6:
        return 8;
    case 0xb0: // NV12
        return 12;
    case 0xa2: // NV16, YUY2
    case 0xa5:
    case 0xc1: // 8X2, 16X1
    case 0xc3:
    case 0xc7:
    case 0xc9:
        return 16;
    case 0x9f: // P010, P016
    case 0xa1:
    case 0xb2: // three planes of 8
    case 0xb4:
        return 24;
    case 0x50: // 10-10-10-2
    case 0xa3: // P210, P216
    case 0xa4:
    case 0xa6: // Y210, Y216, AYUV, Y410
    case 0xa7:
    case 0xa8:
    case 0xa9:
    case 0xc2: // 8X4, 16X2
    case 0xc4:
    case 0xc8:
    case 0xca:
        return 32;
    case 0xb3: // three planes of 16
    case 0xb5:
        return 48;
    case 0xb1: // Y416, 16X4
    case 0xc5:
    case 0xcb:
        return 64;
    default: // 8 bits, and what later versions add
        return 8 * channels;
    }
}

template <class Descriptor>
std::uint64_t array_bytes(const Descriptor& array, unsigned levels) noexcept
{
    const auto side = [](std::uint64_t length, unsigned level) {
        return length == 0 ? 1 : length >> level ? length >> level : 1;
    };
    std::uint64_t depth = 1;
    if constexpr (requires { array.Flags; }) {
        if (array.Flags & (CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_SPARSE))
            return 0;
        depth = array.Depth;
    }
    std::uint64_t elements = 0;
    for (unsigned level = 0; level < levels && level < 32; ++level)
        elements += side(array.Width, level) * side(array.Height, level) * side(depth, level);
    return elements * element_bits(array.Format, array.NumChannels) / 8;
}

} // namespace vramscope::hooks
