// tools/simgpu/driver/context/thread_state.hpp — what the driver remembers for each thread.
#pragma once

#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {

// A context as a thread holds it: the slot, and the id that tells this context from later
// ones in it.
struct ContextRef {
    Context* context = nullptr;
    std::uint64_t id = 0;
    bool living() const
    {
        return context && context->alive.load(std::memory_order_acquire) && context->id == id;
    }
};

struct ThreadState {
    std::vector<ContextRef> current;
    CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

ThreadState& thread_state();

} // namespace simgpu
