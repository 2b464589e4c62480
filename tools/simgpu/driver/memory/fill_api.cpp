// tools/simgpu/driver/memory/fill_api.cpp — cuMemset*: every form becomes one Fill.
#include "tools/simgpu/driver/memory/copy.hpp"

#include "api.hpp"

namespace simgpu {
namespace {

CUresult fill_line(CUstream stream, CUdeviceptr start, unsigned value, unsigned value_bytes,
                   std::size_t count)
{
    return fill(stream, {{start, 0, 0, true}, {count * value_bytes, 1, 1}, value, value_bytes});
}

CUresult fill_rows(CUstream stream, CUdeviceptr start, std::size_t pitch, unsigned value,
                   unsigned value_bytes, std::size_t width, std::size_t height)
{
    if (height > 1 && pitch < width * value_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    return fill(stream,
                {{start, pitch, 0, true}, {width * value_bytes, height, 1}, value, value_bytes});
}

} // namespace

namespace api {

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count)
{
    return fill_line(nullptr, dst, value, 1, count);
}
CUresult cuMemsetD8(CUdeviceptr_v1 dst, unsigned char value, unsigned int count)
{
    return fill_line(nullptr, dst, value, 1, count);
}
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
    return fill_line(stream, dst, value, 1, count);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                         size_t height)
{
    return fill_rows(nullptr, dst, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D8(CUdeviceptr_v1 dst, unsigned int pitch, unsigned char value,
                      unsigned int width, unsigned int height)
{
    return fill_rows(nullptr, dst, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
    return fill_rows(stream, dst, pitch, value, 1, width, height);
}

CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short value, size_t count)
{
    return fill_line(nullptr, dst, value, 2, count);
}
CUresult cuMemsetD16(CUdeviceptr_v1 dst, unsigned short value, unsigned int count)
{
    return fill_line(nullptr, dst, value, 2, count);
}
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
    return fill_line(stream, dst, value, 2, count);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                          size_t height)
{
    return fill_rows(nullptr, dst, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D16(CUdeviceptr_v1 dst, unsigned int pitch, unsigned short value,
                       unsigned int width, unsigned int height)
{
    return fill_rows(nullptr, dst, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_rows(stream, dst, pitch, value, 2, width, height);
}

CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t count)
{
    return fill_line(nullptr, dst, value, 4, count);
}
CUresult cuMemsetD32(CUdeviceptr_v1 dst, unsigned int value, unsigned int count)
{
    return fill_line(nullptr, dst, value, 4, count);
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
    return fill_line(stream, dst, value, 4, count);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
                          size_t height)
{
    return fill_rows(nullptr, dst, pitch, value, 4, width, height);
}
CUresult cuMemsetD2D32(CUdeviceptr_v1 dst, unsigned int pitch, unsigned int value,
                       unsigned int width, unsigned int height)
{
    return fill_rows(nullptr, dst, pitch, value, 4, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_rows(stream, dst, pitch, value, 4, width, height);
}

} // namespace api
} // namespace simgpu
