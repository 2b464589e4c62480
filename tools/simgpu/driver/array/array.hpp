// tools/simgpu/driver/array/array.hpp — CUDA arrays: opaque on a device, plain rows here.
//
// Rows are padded to 512 B and the whole to 64 KiB: this is a guess, as the tiling of a device is
// not known. Sparse arrays and those with deferred mapping have no memory of their own.
#pragma once

#include <atomic>
#include <vector>

#include "tools/simgpu/driver/context/context.hpp"
#include "tools/simgpu/driver/memory/copy.hpp"

namespace simgpu {

inline constexpr std::size_t kArrayStep = std::size_t{64} << 10;

struct Array {
    std::atomic<bool> alive{false};
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    Context* context = nullptr;
    Device* device = nullptr;
    std::uintptr_t start = 0; // 0 without memory
    std::size_t pitch = 0;
    std::size_t slice = 0;
    std::size_t bytes = 0;
    bool owns_memory = false;
    bool part_of_mipmap = false;
};

struct Mipmap {
    std::atomic<bool> alive{false};
    Context* context = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    std::vector<Array*> levels;
    std::uintptr_t foreign = 0; // memory of an external object that the levels lie in
    std::size_t bytes() const;
};

Plane plane_of(const Array& array);
std::size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR& descriptor); // 0: not simulated

CUresult open_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, Array*& array);
void close_array(Array& array);
// Makes the levels with their shapes; they have no memory yet.
CUresult open_mipmap(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels,
                     Mipmap*& mipmap);
CUresult give_memory(Mipmap& mipmap);
void close_mipmap(Mipmap& mipmap);
// Answers only for arrays without memory of their own, as cuda.h says.
CUresult tell_requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out,
                           const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::size_t bytes);
// Closes the arrays and mipmapped arrays of a context that ends.
void free_arrays_of(Context& context);

// Defined in sparse_api.cpp: what was mapped into an array is released with it.
void unmap_array_locked(const void* array_or_mipmap);

} // namespace simgpu
