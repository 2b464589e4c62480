// tools/simgpu/runtime/copy_shape.cpp — the runtime's copies as the driver's shapes.
#include "tools/simgpu/runtime/channel.hpp"
#include "tools/simgpu/runtime/copy.hpp"

namespace simgpu::runtime {

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

size_t element_bytes(const Driver& driver, cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR known{};
    if (driver.cuArray3DGetDescriptor(&known,
                                      reinterpret_cast<CUarray>(const_cast<cudaArray*>(array))))
        return 1;
    return bytes_of(known.Format) * known.NumChannels;
}

namespace {

// Copies on one device and between devices have fields of the same names.
template <class Parameters, class Shape>
CUresult make_shape(const Driver& driver, const Parameters* p, cudaMemcpyKind kind, Shape& shape)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const cudaArray_t counted = p->srcArray ? p->srcArray : p->dstArray;
    const size_t element = counted ? element_bytes(driver, counted) : 1;
    shape = {};
    shape.srcXInBytes = p->srcPos.x * (p->srcArray ? element : 1);
    shape.srcY = p->srcPos.y;
    shape.srcZ = p->srcPos.z;
    shape.srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : type_of(kind, false);
    shape.srcArray = reinterpret_cast<CUarray>(p->srcArray);
    shape.srcHost = p->srcPtr.ptr;
    shape.srcDevice = address_of(p->srcPtr.ptr);
    shape.srcPitch = p->srcPtr.pitch;
    shape.srcHeight = p->srcPtr.ysize;
    shape.dstXInBytes = p->dstPos.x * (p->dstArray ? element : 1);
    shape.dstY = p->dstPos.y;
    shape.dstZ = p->dstPos.z;
    shape.dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : type_of(kind, true);
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

} // namespace

CUresult shape_3d(const Driver& driver, const cudaMemcpy3DParms* p, CUDA_MEMCPY3D& shape)
{
    return make_shape(driver, p, p ? p->kind : cudaMemcpyDefault, shape);
}

CUresult shape_3d(const Driver& driver, const cudaMemcpy3DPeerParms* p, CUDA_MEMCPY3D_PEER& shape)
{
    return make_shape(driver, p, cudaMemcpyDeviceToDevice, shape);
}

CUDA_MEMCPY3D shape_1d(void* to, const void* from, size_t bytes, cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D shape{};
    shape.srcMemoryType = type_of(kind, false);
    shape.srcHost = from;
    shape.srcDevice = address_of(from);
    shape.dstMemoryType = type_of(kind, true);
    shape.dstHost = to;
    shape.dstDevice = address_of(to);
    shape.WidthInBytes = bytes;
    shape.Height = 1;
    shape.Depth = 1;
    return shape;
}

namespace {

cudaPitchedPtr memory_of(CUmemorytype type, const void* host, CUdeviceptr device, size_t pitch,
                         size_t height)
{
    if (type == CU_MEMORYTYPE_ARRAY)
        return {};
    void* const pointer =
        type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
    return {pointer, pitch, pitch, height};
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST)
        return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

} // namespace

cudaMemcpy3DParms parameters_of(const Driver& driver, const CUDA_MEMCPY3D& shape)
{
    cudaMemcpy3DParms p{};
    const bool from_array = shape.srcMemoryType == CU_MEMORYTYPE_ARRAY;
    const bool to_array = shape.dstMemoryType == CU_MEMORYTYPE_ARRAY;
    if (from_array)
        p.srcArray = reinterpret_cast<cudaArray_t>(shape.srcArray);
    if (to_array)
        p.dstArray = reinterpret_cast<cudaArray_t>(shape.dstArray);
    const cudaArray_t counted = from_array ? p.srcArray : p.dstArray;
    const size_t element = counted ? element_bytes(driver, counted) : 1;
    p.srcPos = {shape.srcXInBytes / (from_array ? element : 1), shape.srcY, shape.srcZ};
    p.dstPos = {shape.dstXInBytes / (to_array ? element : 1), shape.dstY, shape.dstZ};
    p.srcPtr = memory_of(shape.srcMemoryType, shape.srcHost, shape.srcDevice, shape.srcPitch,
                         shape.srcHeight);
    p.dstPtr = memory_of(shape.dstMemoryType, shape.dstHost, shape.dstDevice, shape.dstPitch,
                         shape.dstHeight);
    p.extent = {shape.WidthInBytes / element, shape.Height, shape.Depth};
    p.kind = kind_of(shape.srcMemoryType, shape.dstMemoryType);
    return p;
}

} // namespace simgpu::runtime
