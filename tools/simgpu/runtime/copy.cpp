// tools/simgpu/runtime/copy.cpp — cudaMemcpy*, cudaMemset*, symbols.
#include "tools/simgpu/runtime/call.hpp"
#include "tools/simgpu/runtime/image.hpp"

#include <cstring>

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

CUmemorytype type_of(cudaMemcpyKind kind, bool target)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    const bool device = kind == cudaMemcpyDeviceToDevice ||
                        kind == (target ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    return device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

CUDA_MEMCPY2D shape_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D shape{};
    shape.dstMemoryType = type_of(kind, true);
    shape.dstHost = to;
    shape.dstDevice = address_of(to);
    shape.dstPitch = to_pitch;
    shape.srcMemoryType = type_of(kind, false);
    shape.srcHost = from;
    shape.srcDevice = address_of(from);
    shape.srcPitch = from_pitch;
    shape.WidthInBytes = width;
    shape.Height = height;
    return shape;
}

// An array counts its width and position in elements.
size_t element_bytes(const Driver& driver, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    if (driver.cuArray3DGetDescriptor(&descriptor, reinterpret_cast<CUarray>(array)) !=
        CUDA_SUCCESS)
        return 1;
    switch (descriptor.Format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return descriptor.NumChannels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return size_t{2} * descriptor.NumChannels;
    default:
        return size_t{4} * descriptor.NumChannels;
    }
}

CUresult shape_3d(const Driver& driver, const cudaMemcpy3DParms* p, CUDA_MEMCPY3D& shape)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const cudaArray_t counted = p->srcArray ? p->srcArray : p->dstArray;
    const size_t element = counted ? element_bytes(driver, counted) : 1;
    shape = {};
    shape.srcXInBytes = p->srcPos.x * (p->srcArray ? element : 1);
    shape.srcY = p->srcPos.y;
    shape.srcZ = p->srcPos.z;
    shape.srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : type_of(p->kind, false);
    shape.srcArray = reinterpret_cast<CUarray>(p->srcArray);
    shape.srcHost = p->srcPtr.ptr;
    shape.srcDevice = address_of(p->srcPtr.ptr);
    shape.srcPitch = p->srcPtr.pitch;
    shape.srcHeight = p->srcPtr.ysize;
    shape.dstXInBytes = p->dstPos.x * (p->dstArray ? element : 1);
    shape.dstY = p->dstPos.y;
    shape.dstZ = p->dstPos.z;
    shape.dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : type_of(p->kind, true);
    shape.dstArray = reinterpret_cast<CUarray>(p->dstArray);
    shape.dstHost = p->dstPtr.ptr;
    shape.dstDevice = address_of(p->dstPtr.ptr);
    shape.dstPitch = p->dstPtr.pitch;
    shape.dstHeight = p->dstPtr.ysize;
    shape.WidthInBytes = p->extent.width * element;
    shape.Height = p->extent.height;
    shape.Depth = p->extent.depth;
    return CUDA_SUCCESS;
}

// A symbol's bytes from `offset`, or why not.
CUresult part_of_symbol(const Driver& driver, const void* symbol, size_t offset, size_t count,
                        CUdeviceptr& address)
{
    size_t bytes = 0;
    if (const CUresult error = symbol_of(driver, symbol, address, bytes))
        return error;
    address += offset;
    return offset > bytes || count > bytes - offset ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
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
SIMGPU_STREAM_FUNCTION(cudaMemcpy2DToArray, _ptds,
                       (cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                        size_t spitch, size_t width, size_t height, cudaMemcpyKind kind),
                       {
                           auto shape = shape_2d(nullptr, 0, src, spitch, width, height, kind);
                           shape.dstMemoryType = CU_MEMORYTYPE_ARRAY;
                           shape.dstArray = reinterpret_cast<CUarray>(dst);
                           shape.dstXInBytes = wOffset;
                           shape.dstY = hOffset;
                           return calls.cuMemcpy2DUnaligned(&shape);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemcpy2DFromArray, _ptds,
                       (void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                        size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind),
                       {
                           auto shape = shape_2d(dst, dpitch, nullptr, 0, width, height, kind);
                           shape.srcMemoryType = CU_MEMORYTYPE_ARRAY;
                           shape.srcArray = reinterpret_cast<CUarray>(const_cast<cudaArray*>(src));
                           shape.srcXInBytes = wOffset;
                           shape.srcY = hOffset;
                           return calls.cuMemcpy2DUnaligned(&shape);
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

SIMGPU_STREAM_FUNCTION(cudaMemset, _ptds, (void* devPtr, int value, size_t count), {
    return calls.cuMemsetD8(address_of(devPtr), static_cast<unsigned char>(value), count);
})
SIMGPU_STREAM_FUNCTION(cudaMemsetAsync, _ptsz,
                       (void* devPtr, int value, size_t count, cudaStream_t stream), {
                           return calls.cuMemsetD8Async(address_of(devPtr),
                                                        static_cast<unsigned char>(value), count,
                                                        stream);
                       })
SIMGPU_STREAM_FUNCTION(cudaMemset2D, _ptds,
                       (void* devPtr, size_t pitch, int value, size_t width, size_t height), {
                           return calls.cuMemsetD2D8(address_of(devPtr), pitch,
                                                     static_cast<unsigned char>(value), width,
                                                     height);
                       })
SIMGPU_STREAM_FUNCTION(
    cudaMemset2DAsync, _ptsz,
    (void* devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream), {
        return calls.cuMemsetD2D8Async(address_of(devPtr), pitch, static_cast<unsigned char>(value),
                                       width, height, stream);
    })

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
