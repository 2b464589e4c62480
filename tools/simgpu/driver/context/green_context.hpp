// tools/simgpu/driver/context/green_context.hpp — a share of a device's multiprocessors.
//
// A green context retains the primary context of its device and owns no memory: what is allocated
// while it is current belongs to the primary context. Its CUcontext is that of the primary context.
#pragma once

#include "tools/simgpu/driver/context/thread_state.hpp"

namespace simgpu {

#if CUDA_VERSION >= 12040
struct GreenContext {
    std::atomic<bool> alive{false};
    std::uint64_t id = 0;
    Device* device = nullptr;
    ContextRef primary;
    CUdevResource resource{};
};
#endif

// False for a stream whose green context is destroyed.
bool green_context_lives(const Stream& stream);

} // namespace simgpu
