// tests/programs/frameworks/torch_api.hpp — what PyTorch's libc10 declares, by its own names.
//
// Two libraries of ours stand in for PyTorch's: `report` for libc10 and `allocator` for
// libc10_cuda. They are built and opened as those are: bound when they are loaded, and visible to
// nobody else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace c10 {

enum class DeviceType : std::int8_t { CPU = 0, CUDA = 1 };
struct Device {
    DeviceType type;
    std::int8_t index;
};

__attribute__((visibility("default"))) void
reportMemoryUsageToProfiler(void* block, std::int64_t bytes, std::size_t allocated,
                            std::size_t reserved, Device device);
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(std::int64_t bytes,
                                                                        std::size_t allocated,
                                                                        std::size_t reserved,
                                                                        Device device);

} // namespace c10
