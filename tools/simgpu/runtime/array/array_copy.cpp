// tools/simgpu/runtime/array/array_copy.cpp — copies to, from and between arrays.
#include <algorithm>
#include <cstdint>

#include "tools/simgpu/runtime/copy.hpp"

using namespace simgpu::runtime;

namespace {

CUarray handle_of(cudaArray_const_t array)
{
    return reinterpret_cast<CUarray>(const_cast<cudaArray*>(array));
}

// One end of a copy. Memory counts as one row without end.
struct Side {
    cudaArray_const_t array;
    void* memory;
    size_t x;
    size_t y;
    size_t row = SIZE_MAX;

    void advance(size_t bytes)
    {
        if (!array) {
            memory = static_cast<char*>(memory) + bytes;
            return;
        }
        y += (x + bytes) / row;
        x = (x + bytes) % row;
    }
};

Side of_array(cudaArray_const_t array, size_t x, size_t y)
{
    return {array, nullptr, x, y};
}

Side of_memory(const void* memory)
{
    return {nullptr, const_cast<void*>(memory), 0, 0};
}

CUDA_MEMCPY2D shape_of(const Side& to, const Side& from, size_t width, size_t height,
                       cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D shape = shape_2d(to.memory, width, from.memory, width, width, height, kind);
    if (to.array) {
        shape.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        shape.dstArray = handle_of(to.array);
        shape.dstXInBytes = to.x;
        shape.dstY = to.y;
    }
    if (from.array) {
        shape.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        shape.srcArray = handle_of(from.array);
        shape.srcXInBytes = from.x;
        shape.srcY = from.y;
    }
    return shape;
}

CUresult measure(const Driver& driver, Side& side)
{
    CUDA_ARRAY3D_DESCRIPTOR known{};
    if (!side.array)
        return CUDA_SUCCESS;
    if (const CUresult error = driver.cuArray3DGetDescriptor(&known, handle_of(side.array)))
        return error;
    side.row = known.Width * element_bytes(driver, side.array);
    return side.x < side.row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Copies bytes that go on in the next row where one is full. Whole rows are copied together.
template <class CopyShape>
CUresult copy_line(const Driver& driver, Side to, Side from, size_t bytes, cudaMemcpyKind kind,
                   CopyShape copy)
{
    if (const CUresult error = measure(driver, to))
        return error;
    if (const CUresult error = measure(driver, from))
        return error;
    while (bytes > 0) {
        const size_t left_in_row = std::min(to.row - to.x, from.row - from.x);
        const size_t width = std::min(bytes, left_in_row);
        const auto whole = [width](const Side& side) {
            return !side.array || (side.x == 0 && side.row == width);
        };
        const size_t rows = whole(to) && whole(from) ? bytes / width : 1;
        const CUDA_MEMCPY2D shape = shape_of(to, from, width, rows, kind);
        if (const CUresult error = copy(shape))
            return error;
        to.advance(width * rows);
        from.advance(width * rows);
        bytes -= width * rows;
    }
    return CUDA_SUCCESS;
}

auto synchronous(const StreamCalls& calls)
{
    return [&calls](const CUDA_MEMCPY2D& shape) { return calls.cuMemcpy2DUnaligned(&shape); };
}

auto queued(const StreamCalls& calls, cudaStream_t stream)
{
    return [&calls, stream](const CUDA_MEMCPY2D& shape) {
        return calls.cuMemcpy2DAsync(&shape, stream);
    };
}

} // namespace

SIMGPU_STREAM_FUNCTION(cudaMemcpy2DToArray, _ptds,
                       (cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                        size_t spitch, size_t width, size_t height, cudaMemcpyKind kind),
                       {
                           auto shape = shape_of(of_array(dst, wOffset, hOffset), of_memory(src),
                                                 width, height, kind);
                           shape.srcPitch = spitch;
                           return calls.cuMemcpy2DUnaligned(&shape);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpy2DToArrayAsync, _ptsz,
                       (cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                        size_t spitch, size_t width, size_t height, cudaMemcpyKind kind,
                        cudaStream_t stream),
                       {
                           auto shape = shape_of(of_array(dst, wOffset, hOffset), of_memory(src),
                                                 width, height, kind);
                           shape.srcPitch = spitch;
                           return calls.cuMemcpy2DAsync(&shape, stream);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpy2DFromArray, _ptds,
                       (void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                        size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind),
                       {
                           auto shape = shape_of(of_memory(dst), of_array(src, wOffset, hOffset),
                                                 width, height, kind);
                           shape.dstPitch = dpitch;
                           return calls.cuMemcpy2DUnaligned(&shape);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpy2DFromArrayAsync, _ptsz,
                       (void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                        size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind,
                        cudaStream_t stream),
                       {
                           auto shape = shape_of(of_memory(dst), of_array(src, wOffset, hOffset),
                                                 width, height, kind);
                           shape.dstPitch = dpitch;
                           return calls.cuMemcpy2DAsync(&shape, stream);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpy2DArrayToArray, _ptds,
                       (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                        cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t width,
                        size_t height, cudaMemcpyKind kind),
                       {
                           const auto shape =
                               shape_of(of_array(dst, wOffsetDst, hOffsetDst),
                                        of_array(src, wOffsetSrc, hOffsetSrc), width, height, kind);
                           return calls.cuMemcpy2DUnaligned(&shape);
                       })

SIMGPU_STREAM_FUNCTION(cudaMemcpyToArray, _ptds,
                       (cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                        size_t count, cudaMemcpyKind kind),
                       {
                           return copy_line(driver, of_array(dst, wOffset, hOffset), of_memory(src),
                                            count, kind, synchronous(calls));
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpyToArrayAsync, _ptsz,
                       (cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                        size_t count, cudaMemcpyKind kind, cudaStream_t stream),
                       {
                           return copy_line(driver, of_array(dst, wOffset, hOffset), of_memory(src),
                                            count, kind, queued(calls, stream));
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpyFromArray, _ptds,
                       (void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                        size_t count, cudaMemcpyKind kind),
                       {
                           return copy_line(driver, of_memory(dst), of_array(src, wOffset, hOffset),
                                            count, kind, synchronous(calls));
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpyFromArrayAsync, _ptsz,
                       (void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                        size_t count, cudaMemcpyKind kind, cudaStream_t stream),
                       {
                           return copy_line(driver, of_memory(dst), of_array(src, wOffset, hOffset),
                                            count, kind, queued(calls, stream));
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpyArrayToArray, _ptds,
                       (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                        cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
                        cudaMemcpyKind kind),
                       {
                           return copy_line(driver, of_array(dst, wOffsetDst, hOffsetDst),
                                            of_array(src, wOffsetSrc, hOffsetSrc), count, kind,
                                            synchronous(calls));
                       })

SIMGPU_STREAM_FUNCTION(cudaMemcpy3DPeer, _ptds, (const cudaMemcpy3DPeerParms* p), {
    CUDA_MEMCPY3D_PEER shape{};
    const CUresult error = shape_3d(driver, p, shape);
    return error != CUDA_SUCCESS ? error : calls.cuMemcpy3DPeer(&shape);
})
SIMGPU_STREAM_FUNCTION(cudaMemcpy3DPeerAsync, _ptsz,
                       (const cudaMemcpy3DPeerParms* p, cudaStream_t stream), {
                           CUDA_MEMCPY3D_PEER shape{};
                           const CUresult error = shape_3d(driver, p, shape);
                           return error != CUDA_SUCCESS ? error
                                                        : calls.cuMemcpy3DPeerAsync(&shape, stream);
                       })
