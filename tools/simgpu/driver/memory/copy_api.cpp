// tools/simgpu/driver/memory/copy_api.cpp — cuMemcpy*: every form becomes one Copy.
//
// The _ptds and _ptsz exports come here too; the default stream then is the thread's (entry.hpp).
#include "tools/simgpu/driver/array/array.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/copy.hpp"

#include "api.hpp"

namespace simgpu {
namespace {

std::uintptr_t address(const void* pointer)
{
    return reinterpret_cast<std::uintptr_t>(pointer);
}

Plane any(std::uintptr_t start)
{
    return {start, 0, 0, false};
}
Plane device(std::uintptr_t start)
{
    return {start, 0, 0, true};
}

CUresult linear(CUstream stream, Plane to, Plane from, std::size_t bytes, Return when)
{
    return copy(stream, {to, from, {bytes, 1, 1}}, when);
}

// Part of an array, `offset` bytes into its rows taken as one line.
CUresult array_part(CUarray handle, std::size_t offset, std::size_t bytes, Plane& plane)
{
    const Array* array = arrays().find(handle);
    if (!array || !array->start)
        return CUDA_ERROR_INVALID_HANDLE;
    if (offset > array->bytes || bytes > array->bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    plane = {array->start + offset, 0, 0, false};
    return CUDA_SUCCESS;
}

// One end of a 2D or 3D copy.
struct End {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    std::size_t x;
    std::size_t y;
    std::size_t z;
    std::size_t pitch;
    std::size_t height;
};

CUresult plane_of_end(const End& end, const Extent& extent, Plane& plane)
{
    if (end.type == CU_MEMORYTYPE_ARRAY) {
        const Array* array = arrays().find(end.array);
        if (!array || !array->start)
            return CUDA_ERROR_INVALID_HANDLE;
        plane = plane_of(*array);
    } else {
        const std::size_t pitch = end.pitch ? end.pitch : extent.width;
        const std::size_t height = end.height ? end.height : extent.height;
        if (pitch < extent.width && extent.height > 1)
            return CUDA_ERROR_INVALID_VALUE;
        const bool on_host = end.type == CU_MEMORYTYPE_HOST;
        if (!on_host && end.type != CU_MEMORYTYPE_DEVICE && end.type != CU_MEMORYTYPE_UNIFIED)
            return CUDA_ERROR_INVALID_VALUE;
        plane = {on_host ? address(end.host) : end.device, pitch, pitch * height,
                 end.type == CU_MEMORYTYPE_DEVICE};
    }
    if (!plane.start)
        return CUDA_ERROR_INVALID_VALUE;
    plane.start += end.x + end.y * plane.pitch + end.z * plane.slice;
    return CUDA_SUCCESS;
}

CUresult make_shape(const End& to, const End& from, const Extent& extent, Copy& shape)
{
    shape.extent = extent;
    if (extent.empty())
        return CUDA_SUCCESS;
    if (const CUresult error = plane_of_end(to, extent, shape.to))
        return error;
    return plane_of_end(from, extent, shape.from);
}

CUresult shaped(CUstream stream, const End& to, const End& from, const Extent& extent, Return when)
{
    Copy shape;
    const CUresult error = make_shape(to, from, extent, shape);
    return error != CUDA_SUCCESS ? error : copy(stream, shape, when);
}

template <class Parameters>
End target_of(const Parameters& p)
{
    return {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
            p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
}

template <class Parameters>
End source_of(const Parameters& p)
{
    return {p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
            p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
}

CUresult copy_2d(const CUDA_MEMCPY2D* p, CUstream stream, Return when)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    return shaped(stream,
                  {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes, p->dstY,
                   0, p->dstPitch, 0},
                  {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes, p->srcY,
                   0, p->srcPitch, 0},
                  {p->WidthInBytes, p->Height, 1}, when);
}

// CUDA_MEMCPY3D, its 32-bit form and the peer form differ in their field types only.
template <class Parameters>
CUresult copy_3d(const Parameters* p, CUstream stream, Return when)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    return shaped(stream, target_of(*p), source_of(*p), {p->WidthInBytes, p->Height, p->Depth},
                  when);
}

template <class Parameters>
CUDA_MEMCPY2D widen_copy(const Parameters& p)
{
    CUDA_MEMCPY2D wide{};
    wide.srcXInBytes = p.srcXInBytes;
    wide.srcY = p.srcY;
    wide.srcMemoryType = p.srcMemoryType;
    wide.srcHost = p.srcHost;
    wide.srcDevice = p.srcDevice;
    wide.srcArray = p.srcArray;
    wide.srcPitch = p.srcPitch;
    wide.dstXInBytes = p.dstXInBytes;
    wide.dstY = p.dstY;
    wide.dstMemoryType = p.dstMemoryType;
    wide.dstHost = p.dstHost;
    wide.dstDevice = p.dstDevice;
    wide.dstArray = p.dstArray;
    wide.dstPitch = p.dstPitch;
    wide.WidthInBytes = p.WidthInBytes;
    wide.Height = p.Height;
    return wide;
}

CUresult array_copy(CUstream stream, CUarray to, std::size_t to_offset, CUarray from,
                    std::size_t from_offset, std::size_t bytes)
{
    Plane target;
    Plane source;
    if (const CUresult error = array_part(to, to_offset, bytes, target))
        return error;
    if (const CUresult error = array_part(from, from_offset, bytes, source))
        return error;
    return linear(stream, target, source, bytes, Return::when_done);
}

CUresult from_array(CUstream stream, Plane to, CUarray array, std::size_t offset, std::size_t bytes,
                    Return when)
{
    Plane source;
    if (const CUresult error = array_part(array, offset, bytes, source))
        return error;
    return linear(stream, to, source, bytes, when);
}

CUresult to_array(CUstream stream, CUarray array, std::size_t offset, Plane from, std::size_t bytes,
                  Return when)
{
    Plane target;
    if (const CUresult error = array_part(array, offset, bytes, target))
        return error;
    return linear(stream, target, from, bytes, when);
}

} // namespace

CUresult make_copy(const CUDA_MEMCPY3D& parameters, Copy& shape)
{
    return make_shape(target_of(parameters), source_of(parameters),
                      {parameters.WidthInBytes, parameters.Height, parameters.Depth}, shape);
}

namespace api {

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return linear(nullptr, any(dst), any(src), bytes, Return::when_done);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return linear(stream, any(dst), any(src), bytes, Return::when_queued);
}
CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext, CUdeviceptr src, CUcontext, size_t bytes)
{
    return linear(nullptr, device(dst), device(src), bytes, Return::when_done);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext, CUdeviceptr src, CUcontext, size_t bytes,
                           CUstream stream)
{
    return linear(stream, device(dst), device(src), bytes, Return::when_queued);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t bytes)
{
    return linear(nullptr, device(dst), any(address(src)), bytes, Return::when_done);
}
CUresult cuMemcpyHtoD(CUdeviceptr_v1 dst, const void* src, unsigned int bytes)
{
    return api::cuMemcpyHtoD_v2(dst, src, bytes);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream)
{
    return linear(stream, device(dst), any(address(src)), bytes, Return::when_queued);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr_v1 dst, const void* src, unsigned int bytes, CUstream stream)
{
    return api::cuMemcpyHtoDAsync_v2(dst, src, bytes, stream);
}

CUresult cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t bytes)
{
    return linear(nullptr, any(address(dst)), device(src), bytes, Return::when_done);
}
CUresult cuMemcpyDtoH(void* dst, CUdeviceptr_v1 src, unsigned int bytes)
{
    return api::cuMemcpyDtoH_v2(dst, src, bytes);
}
CUresult cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return linear(stream, any(address(dst)), device(src), bytes, Return::when_queued);
}
CUresult cuMemcpyDtoHAsync(void* dst, CUdeviceptr_v1 src, unsigned int bytes, CUstream stream)
{
    return api::cuMemcpyDtoHAsync_v2(dst, src, bytes, stream);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return linear(nullptr, device(dst), device(src), bytes, Return::when_done);
}
CUresult cuMemcpyDtoD(CUdeviceptr_v1 dst, CUdeviceptr_v1 src, unsigned int bytes)
{
    return api::cuMemcpyDtoD_v2(dst, src, bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return linear(stream, device(dst), device(src), bytes, Return::when_queued);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr_v1 dst, CUdeviceptr_v1 src, unsigned int bytes,
                           CUstream stream)
{
    return api::cuMemcpyDtoDAsync_v2(dst, src, bytes, stream);
}

CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
    return to_array(nullptr, dst, offset, device(src), bytes, Return::when_done);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
    return from_array(nullptr, device(dst), src, offset, bytes, Return::when_done);
}
CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void* src, size_t bytes)
{
    return to_array(nullptr, dst, offset, any(address(src)), bytes, Return::when_done);
}
CUresult cuMemcpyAtoH_v2(void* dst, CUarray src, size_t offset, size_t bytes)
{
    return from_array(nullptr, any(address(dst)), src, offset, bytes, Return::when_done);
}
CUresult cuMemcpyAtoA_v2(CUarray dst, size_t to_offset, CUarray src, size_t from_offset,
                         size_t bytes)
{
    return array_copy(nullptr, dst, to_offset, src, from_offset, bytes);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void* src, size_t bytes,
                              CUstream stream)
{
    return to_array(stream, dst, offset, any(address(src)), bytes, Return::when_queued);
}
CUresult cuMemcpyAtoHAsync_v2(void* dst, CUarray src, size_t offset, size_t bytes, CUstream stream)
{
    return from_array(stream, any(address(dst)), src, offset, bytes, Return::when_queued);
}

// The forms of CUDA 3.1, of 32 bits.
CUresult cuMemcpyDtoA(CUarray dst, unsigned int offset, CUdeviceptr_v1 src, unsigned int bytes)
{
    return api::cuMemcpyDtoA_v2(dst, offset, src, bytes);
}
CUresult cuMemcpyAtoD(CUdeviceptr_v1 dst, CUarray src, unsigned int offset, unsigned int bytes)
{
    return api::cuMemcpyAtoD_v2(dst, src, offset, bytes);
}
CUresult cuMemcpyHtoA(CUarray dst, unsigned int offset, const void* src, unsigned int bytes)
{
    return api::cuMemcpyHtoA_v2(dst, offset, src, bytes);
}
CUresult cuMemcpyAtoH(void* dst, CUarray src, unsigned int offset, unsigned int bytes)
{
    return api::cuMemcpyAtoH_v2(dst, src, offset, bytes);
}
CUresult cuMemcpyAtoA(CUarray dst, unsigned int to_offset, CUarray src, unsigned int from_offset,
                      unsigned int bytes)
{
    return api::cuMemcpyAtoA_v2(dst, to_offset, src, from_offset, bytes);
}
CUresult cuMemcpyHtoAAsync(CUarray dst, unsigned int offset, const void* src, unsigned int bytes,
                           CUstream stream)
{
    return api::cuMemcpyHtoAAsync_v2(dst, offset, src, bytes, stream);
}
CUresult cuMemcpyAtoHAsync(void* dst, CUarray src, unsigned int offset, unsigned int bytes,
                           CUstream stream)
{
    return api::cuMemcpyAtoHAsync_v2(dst, src, offset, bytes, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* p)
{
    return copy_2d(p, nullptr, Return::when_done);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* p)
{
    return copy_2d(p, nullptr, Return::when_done);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* p, CUstream stream)
{
    return copy_2d(p, stream, Return::when_queued);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D_v1* p)
{
    const CUDA_MEMCPY2D wide = p ? widen_copy(*p) : CUDA_MEMCPY2D{};
    return p ? copy_2d(&wide, nullptr, Return::when_done) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1* p)
{
    return api::cuMemcpy2D(p);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1* p, CUstream stream)
{
    const CUDA_MEMCPY2D wide = p ? widen_copy(*p) : CUDA_MEMCPY2D{};
    return p ? copy_2d(&wide, stream, Return::when_queued) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* p)
{
    return copy_3d(p, nullptr, Return::when_done);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D_v1* p)
{
    return copy_3d(p, nullptr, Return::when_done);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* p, CUstream stream)
{
    return copy_3d(p, stream, Return::when_queued);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1* p, CUstream stream)
{
    return copy_3d(p, stream, Return::when_queued);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p)
{
    return copy_3d(p, nullptr, Return::when_done);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream stream)
{
    return copy_3d(p, stream, Return::when_queued);
}

} // namespace api
} // namespace simgpu
