// tools/simgpu/driver/memory/fill_api.cpp — cuMemset*: every form becomes one Fill.
#include "api.hpp"
#include "tools/simgpu/driver/memory/copy.hpp"

namespace simgpu {
namespace {

template <class Value>
CUresult fill_line(CUstream stream, CUdeviceptr start, Value value, std::size_t count)
{
    return fill(stream, {{start, 0, 0, true}, {count * sizeof value, 1, 1}, value, sizeof value});
}

template <class Value>
CUresult fill_rows(CUstream stream, CUdeviceptr start, std::size_t pitch, Value value,
                   std::size_t width, std::size_t height)
{
    const std::size_t row = width * sizeof value;
    if (height > 1 && pitch < row)
        return CUDA_ERROR_INVALID_VALUE;
    return fill(stream, {{start, pitch, 0, true}, {row, height, 1}, value, sizeof value});
}

} // namespace

namespace api {

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count)
{
    return fill_line(nullptr, dst, value, count);
}
CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short value, size_t count)
{
    return fill_line(nullptr, dst, value, count);
}
CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t count)
{
    return fill_line(nullptr, dst, value, count);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
    return fill_line(stream, dst, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
    return fill_line(stream, dst, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
    return fill_line(stream, dst, value, count);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                         size_t height)
{
    return fill_rows(nullptr, dst, pitch, value, width, height);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                          size_t height)
{
    return fill_rows(nullptr, dst, pitch, value, width, height);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
                          size_t height)
{
    return fill_rows(nullptr, dst, pitch, value, width, height);
}

CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
    return fill_rows(stream, dst, pitch, value, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_rows(stream, dst, pitch, value, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_rows(stream, dst, pitch, value, width, height);
}

} // namespace api
} // namespace simgpu
