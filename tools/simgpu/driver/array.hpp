// tools/simgpu/driver/array.hpp — CUDA arrays: opaque on a device, plain rows here.
#pragma once

#include "tools/simgpu/driver/context.hpp"
#include "tools/simgpu/driver/copy.hpp"

#include <atomic>
#include <vector>

namespace simgpu {

struct Array {
    std::atomic<bool> alive{false};
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    Context* context = nullptr;
    Device* device = nullptr;
    std::uintptr_t start = 0; // 0 while its mapping is deferred
    std::size_t pitch = 0;
    std::size_t slice = 0;
    std::size_t bytes = 0;
    bool part_of_mipmap = false;
};

Slots<Array>& arrays();
Plane plane_of(const Array& array);
// Arrays and mipmapped arrays that die with a context.
void free_arrays_of(Context& context);

} // namespace simgpu
