// tools/simgpu/driver/context/green_context.hpp — a share of a device's multiprocessors, and
// streams on it.
//
// A green context retains its device's primary context and owns no memory: what is allocated while
// it is current is the primary context's. Here its CUcontext is the primary context's own.
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
Slots<GreenContext>& green_contexts();
#endif

// False for a stream of a green context that is destroyed.
bool green_context_lives(const Stream& stream);

} // namespace simgpu
