// tools/simgpu/runtime/image.hpp — what nvcc's registration calls tell: images, kernels, variables.
#pragma once

#include "tools/simgpu/runtime/call.hpp"

namespace simgpu::runtime {

// The driver's handle of a __global__ function's stub or of a cudaKernel_t. Its image is loaded
// when it is first used.
CUresult function_of(const Driver& driver, const void* stub, CUfunction& function);
// The other way round: the stub, or the handle itself if it has none.
void* stub_of(CUfunction function);
// The address of a __device__ variable and the size that it was registered with.
CUresult symbol_of(const Driver& driver, const void* symbol, CUdeviceptr& address, size_t& bytes);
// The same for `count` bytes from `offset`; CUDA_ERROR_INVALID_VALUE if it has not that many.
CUresult part_of_symbol(const Driver& driver, const void* symbol, size_t offset, size_t count,
                        CUdeviceptr& address);
void unload_images(const Driver& driver);

} // namespace simgpu::runtime
