// tools/simgpu/runtime/fill.cpp — cudaMemset3D.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

namespace {

// If the rows of all slices follow each other, they are one fill; otherwise each slice is one.
template <class Fill>
CUresult fill_3d(cudaPitchedPtr memory, cudaExtent extent, Fill fill)
{
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return CUDA_SUCCESS;
    if (extent.depth == 1 || extent.height == memory.ysize)
        return fill(address_of(memory.ptr), extent.width, extent.height * extent.depth);
    for (size_t slice = 0; slice < extent.depth; ++slice)
        if (const CUresult error =
                fill(address_of(memory.ptr) + slice * memory.pitch * memory.ysize, extent.width,
                     extent.height))
            return error;
    return CUDA_SUCCESS;
}

} // namespace

SIMGPU_STREAM_FUNCTION(
    cudaMemset3D, _ptds, (cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent), {
        return fill_3d(pitchedDevPtr, extent, [&](CUdeviceptr start, size_t width, size_t height) {
            return calls.cuMemsetD2D8(start, pitchedDevPtr.pitch, static_cast<unsigned char>(value),
                                      width, height);
        });
    })
SIMGPU_STREAM_FUNCTION(
    cudaMemset3DAsync, _ptsz,
    (cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent, cudaStream_t stream), {
        return fill_3d(pitchedDevPtr, extent, [&](CUdeviceptr start, size_t width, size_t height) {
            return calls.cuMemsetD2D8Async(start, pitchedDevPtr.pitch,
                                           static_cast<unsigned char>(value), width, height,
                                           stream);
        });
    })
