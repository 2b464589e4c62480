// tools/simgpu/runtime/copy.hpp — the runtime's copies as the driver's shapes.
#pragma once

#include "tools/simgpu/runtime/call.hpp"

namespace simgpu::runtime {

CUmemorytype type_of(cudaMemcpyKind kind, bool target);
CUDA_MEMCPY2D shape_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, cudaMemcpyKind kind);
CUresult shape_3d(const Driver& driver, const cudaMemcpy3DParms* p, CUDA_MEMCPY3D& shape);
// Between devices. Which they are follows from the addresses or arrays.
CUresult shape_3d(const Driver& driver, const cudaMemcpy3DPeerParms* p, CUDA_MEMCPY3D_PEER& shape);
// The bytes of a linear copy, as a shape of one row.
CUDA_MEMCPY3D shape_1d(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
// The other way round, for what the node of a graph tells.
cudaMemcpy3DParms parameters_of(const Driver& driver, const CUDA_MEMCPY3D& shape);
// The bytes of an array's element, in which its width and positions are counted; 1 for
// any other memory.
size_t element_bytes(const Driver& driver, cudaArray_const_t array);

} // namespace simgpu::runtime
