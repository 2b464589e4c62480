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

// The forms of one width: a line or rows, in the default stream or in a given one.
#define SIMGPU_FILLS(bits, Value)                                                                  \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, Value value, size_t count)                      \
    {                                                                                              \
        return fill_line(nullptr, dst, value, count);                                              \
    }                                                                                              \
    CUresult cuMemsetD##bits##Async(CUdeviceptr dst, Value value, size_t count, CUstream stream)   \
    {                                                                                              \
        return fill_line(stream, dst, value, count);                                               \
    }                                                                                              \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, Value value, size_t width,      \
                                    size_t height)                                                 \
    {                                                                                              \
        return fill_rows(nullptr, dst, pitch, value, width, height);                               \
    }                                                                                              \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, Value value, size_t width,    \
                                      size_t height, CUstream stream)                              \
    {                                                                                              \
        return fill_rows(stream, dst, pitch, value, width, height);                                \
    }

SIMGPU_FILLS(8, unsigned char)
SIMGPU_FILLS(16, unsigned short)
SIMGPU_FILLS(32, unsigned int)

} // namespace api
} // namespace simgpu
