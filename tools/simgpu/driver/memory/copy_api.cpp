// tools/simgpu/driver/memory/copy_api.cpp — cuMemcpy*: every form becomes one Copy.
//
// The _ptds and _ptsz exports come here too; their default stream is the thread's own (entry.hpp).
#include "api.hpp"
#include "tools/simgpu/driver/array/array.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/copy.hpp"

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

// Part of an array: it starts `offset` bytes into the array's rows, taken as one line.
struct ArrayPart {
    CUarray array;
    std::size_t offset;
};

CUresult find_plane(const Plane& known, std::size_t, Plane& plane)
{
    plane = known;
    return CUDA_SUCCESS;
}

CUresult find_plane(const ArrayPart& part, std::size_t bytes, Plane& plane)
{
    const Array* array = slots<Array>().find(part.array);
    if (!array || !array->start)
        return CUDA_ERROR_INVALID_HANDLE;
    if (part.offset > array->bytes || bytes > array->bytes - part.offset)
        return CUDA_ERROR_INVALID_VALUE;
    plane = any(array->start + part.offset);
    return CUDA_SUCCESS;
}

// Each end is a Plane or an ArrayPart.
template <class To, class From>
CUresult linear(CUstream stream, const To& to, const From& from, std::size_t bytes, Return when)
{
    Copy shape{{}, {}, {bytes, 1, 1}};
    if (const CUresult error = find_plane(to, bytes, shape.to))
        return error;
    if (const CUresult error = find_plane(from, bytes, shape.from))
        return error;
    return copy(stream, shape, when);
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
        const Array* array = slots<Array>().find(end.array);
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

// The structures of 2D, 3D and peer copies have fields of the same names, with 32 or 64 bits. 2D
// copies have no third axis.
template <class Parameters>
End target_of(const Parameters& p)
{
    End end{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
            p.dstY,          0,         p.dstPitch,  0};
    if constexpr (requires { p.Depth; }) {
        end.z = p.dstZ;
        end.height = p.dstHeight;
    }
    return end;
}

template <class Parameters>
End source_of(const Parameters& p)
{
    End end{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
            p.srcY,          0,         p.srcPitch,  0};
    if constexpr (requires { p.Depth; }) {
        end.z = p.srcZ;
        end.height = p.srcHeight;
    }
    return end;
}

template <class Parameters>
CUresult make_shape(const Parameters& p, Copy& shape)
{
    shape.extent = {p.WidthInBytes, p.Height, 1};
    if constexpr (requires { p.Depth; })
        shape.extent.depth = p.Depth;
    if (shape.extent.empty())
        return CUDA_SUCCESS;
    if (const CUresult error = plane_of_end(target_of(p), shape.extent, shape.to))
        return error;
    return plane_of_end(source_of(p), shape.extent, shape.from);
}

template <class Parameters>
CUresult shaped(const Parameters* p, CUstream stream, Return when)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    Copy shape;
    const CUresult error = make_shape(*p, shape);
    return error != CUDA_SUCCESS ? error : copy(stream, shape, when);
}

} // namespace

CUresult make_copy(const CUDA_MEMCPY3D& parameters, Copy& shape)
{
    return make_shape(parameters, shape);
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
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream)
{
    return linear(stream, device(dst), any(address(src)), bytes, Return::when_queued);
}
CUresult cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t bytes)
{
    return linear(nullptr, any(address(dst)), device(src), bytes, Return::when_done);
}
CUresult cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return linear(stream, any(address(dst)), device(src), bytes, Return::when_queued);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return linear(nullptr, device(dst), device(src), bytes, Return::when_done);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return linear(stream, device(dst), device(src), bytes, Return::when_queued);
}
CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
    return linear(nullptr, ArrayPart{dst, offset}, device(src), bytes, Return::when_done);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
    return linear(nullptr, device(dst), ArrayPart{src, offset}, bytes, Return::when_done);
}
CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void* src, size_t bytes)
{
    return linear(nullptr, ArrayPart{dst, offset}, any(address(src)), bytes, Return::when_done);
}
CUresult cuMemcpyAtoH_v2(void* dst, CUarray src, size_t offset, size_t bytes)
{
    return linear(nullptr, any(address(dst)), ArrayPart{src, offset}, bytes, Return::when_done);
}
CUresult cuMemcpyAtoA_v2(CUarray dst, size_t to_offset, CUarray src, size_t from_offset,
                         size_t bytes)
{
    return linear(nullptr, ArrayPart{dst, to_offset}, ArrayPart{src, from_offset}, bytes,
                  Return::when_done);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void* src, size_t bytes,
                              CUstream stream)
{
    return linear(stream, ArrayPart{dst, offset}, any(address(src)), bytes, Return::when_queued);
}
CUresult cuMemcpyAtoHAsync_v2(void* dst, CUarray src, size_t offset, size_t bytes, CUstream stream)
{
    return linear(stream, any(address(dst)), ArrayPart{src, offset}, bytes, Return::when_queued);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* p)
{
    return shaped(p, nullptr, Return::when_done);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* p)
{
    return shaped(p, nullptr, Return::when_done);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* p, CUstream stream)
{
    return shaped(p, stream, Return::when_queued);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D_v1* p)
{
    return shaped(p, nullptr, Return::when_done);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1* p)
{
    return api::cuMemcpy2D(p);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1* p, CUstream stream)
{
    return shaped(p, stream, Return::when_queued);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* p)
{
    return shaped(p, nullptr, Return::when_done);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D_v1* p)
{
    return shaped(p, nullptr, Return::when_done);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* p, CUstream stream)
{
    return shaped(p, stream, Return::when_queued);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1* p, CUstream stream)
{
    return shaped(p, stream, Return::when_queued);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p)
{
    return shaped(p, nullptr, Return::when_done);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream stream)
{
    return shaped(p, stream, Return::when_queued);
}

} // namespace api
} // namespace simgpu
