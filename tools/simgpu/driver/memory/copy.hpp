// tools/simgpu/driver/memory/copy.hpp — one shape for every copy and every fill.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {

struct Plane {
    std::uintptr_t start = 0;
    std::size_t pitch = 0; // bytes from row to row
    std::size_t slice = 0; // bytes from slice to slice
    bool must_be_device = false;
};

struct Extent {
    std::size_t width = 0; // in bytes
    std::size_t height = 1;
    std::size_t depth = 1;
    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

struct Copy {
    Plane to;
    Plane from;
    Extent extent;
};

struct Fill {
    Plane to;
    Extent extent;
    unsigned value = 0;
    unsigned value_bytes = 1;
};

// All is rows of bytes, with pitches. Blocking calls return when a driver's would: at once for a
// copy from device to device, otherwise when the copy is done.
enum class Return : std::uint8_t { when_queued, when_done };
CUresult copy(CUstream stream, const Copy& shape, Return when);
CUresult fill(CUstream stream, const Fill& shape);

// Makes a Copy of a CUDA_MEMCPY3D (copy_api.cpp).
CUresult make_copy(const CUDA_MEMCPY3D& parameters, Copy& shape);

// For graph nodes: a copy or a fill as work. Its ranges are checked again when it runs.
CUresult make_work(const Copy& shape, Work& work);
CUresult make_work(const Fill& shape, Work& work);

} // namespace simgpu
