// tools/simgpu/runtime/copy.cpp — cudaMemcpy* of memory and symbols.
#include "tools/simgpu/runtime/copy.hpp"

#include <cstring>

#include "tools/simgpu/runtime/image.hpp"

using namespace simgpu::runtime;

namespace {

constexpr CUresult kBadDirection = static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);

CUresult copy(const StreamCalls& calls, void* to, const void* from, size_t bytes,
              cudaMemcpyKind kind)
{
    if (bytes == 0)
        return CUDA_SUCCESS;
    switch (kind) {
    case cudaMemcpyHostToHost:
        std::memcpy(to, from, bytes);
        return CUDA_SUCCESS;
    case cudaMemcpyHostToDevice:
        return calls.cuMemcpyHtoD(address_of(to), from, bytes);
    case cudaMemcpyDeviceToHost:
        return calls.cuMemcpyDtoH(to, address_of(from), bytes);
    case cudaMemcpyDeviceToDevice:
        return calls.cuMemcpyDtoD(address_of(to), address_of(from), bytes);
    case cudaMemcpyDefault:
        return calls.cuMemcpy(address_of(to), address_of(from), bytes);
    }
    return kBadDirection;
}

CUresult copy_async(const StreamCalls& calls, void* to, const void* from, size_t bytes,
                    cudaMemcpyKind kind, cudaStream_t stream)
{
    if (bytes == 0)
        return CUDA_SUCCESS;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return calls.cuMemcpyHtoDAsync(address_of(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return calls.cuMemcpyDtoHAsync(to, address_of(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return calls.cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return calls.cuMemcpyAsync(address_of(to), address_of(from), bytes, stream);
    }
    return kBadDirection;
}

} // namespace

SIMGPU_STREAM_FUNCTION(cudaMemcpy, _ptds,
                       (void* dst, const void* src, size_t count, cudaMemcpyKind kind),
                       { return copy(calls, dst, src, count, kind); })
SIMGPU_STREAM_FUNCTION(cudaMemcpyAsync, _ptsz,
                       (void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                        cudaStream_t stream),
                       { return copy_async(calls, dst, src, count, kind, stream); })

SIMGPU_STREAM_FUNCTION(cudaMemcpy2D, _ptds,
                       (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                        size_t height, cudaMemcpyKind kind),
                       {
                           const auto shape =
                               shape_2d(dst, dpitch, src, spitch, width, height, kind);
                           return calls.cuMemcpy2DUnaligned(&shape);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpy2DAsync, _ptsz,
                       (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                        size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                       {
                           const auto shape =
                               shape_2d(dst, dpitch, src, spitch, width, height, kind);
                           return calls.cuMemcpy2DAsync(&shape, stream);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* p), {
    CUDA_MEMCPY3D shape{};
    const CUresult error = shape_3d(driver, p, shape);
    return error != CUDA_SUCCESS ? error : calls.cuMemcpy3D(&shape);
})
SIMGPU_STREAM_FUNCTION(cudaMemcpy3DAsync, _ptsz, (const cudaMemcpy3DParms* p, cudaStream_t stream),
                       {
                           CUDA_MEMCPY3D shape{};
                           const CUresult error = shape_3d(driver, p, shape);
                           return error != CUDA_SUCCESS ? error
                                                        : calls.cuMemcpy3DAsync(&shape, stream);
                       })
SIMGPU_RUNTIME cudaError_t cudaMemcpyPeer(void* dst, int, const void* src, int, size_t count)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.legacy.cuMemcpyPeer(address_of(dst), nullptr, address_of(src), nullptr,
                                          count);
    });
}

SIMGPU_RUNTIME cudaError_t cudaMemcpyPeerAsync(void* dst, int, const void* src, int, size_t count,
                                               cudaStream_t stream)
{
    return enter([&](const Driver& driver) -> CUresult {
        return driver.legacy.cuMemcpyPeerAsync(address_of(dst), nullptr, address_of(src), nullptr,
                                               count, stream);
    });
}

SIMGPU_RUNTIME cudaError_t cudaGetSymbolAddress(void** devPtr, const void* symbol)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUdeviceptr address = 0;
        const CUresult result = part_of_symbol(driver, symbol, 0, 0, address);
        if (result == CUDA_SUCCESS)
            *devPtr = reinterpret_cast<void*>(address);
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUdeviceptr address = 0;
        size_t bytes = 0;
        const CUresult result = symbol_of(driver, symbol, address, bytes);
        if (result == CUDA_SUCCESS)
            *size = bytes;
        return result;
    });
}

SIMGPU_STREAM_FUNCTION(
    cudaMemcpyToSymbol, _ptds,
    (const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind), {
        CUdeviceptr address = 0;
        if (const CUresult error = part_of_symbol(driver, symbol, offset, count, address))
            return error;
        return copy(calls, reinterpret_cast<void*>(address), src, count, kind);
    })
SIMGPU_STREAM_FUNCTION(
    cudaMemcpyFromSymbol, _ptds,
    (void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind), {
        CUdeviceptr address = 0;
        if (const CUresult error = part_of_symbol(driver, symbol, offset, count, address))
            return error;
        return copy(calls, dst, reinterpret_cast<void*>(address), count, kind);
    })
SIMGPU_STREAM_FUNCTION(cudaMemcpyToSymbolAsync, _ptsz,
                       (const void* symbol, const void* src, size_t count, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream),
                       {
                           CUdeviceptr address = 0;
                           if (const CUresult error =
                                   part_of_symbol(driver, symbol, offset, count, address))
                               return error;
                           return copy_async(calls, reinterpret_cast<void*>(address), src, count,
                                             kind, stream);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpyFromSymbolAsync, _ptsz,
                       (void* dst, const void* symbol, size_t count, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream),
                       {
                           CUdeviceptr address = 0;
                           if (const CUresult error =
                                   part_of_symbol(driver, symbol, offset, count, address))
                               return error;
                           return copy_async(calls, dst, reinterpret_cast<void*>(address), count,
                                             kind, stream);
                       })
