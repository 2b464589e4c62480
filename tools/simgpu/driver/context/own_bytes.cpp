// tools/simgpu/driver/context/own_bytes.cpp — under memory_mutex(), as all sums of a device.
#include "tools/simgpu/driver/context/own_bytes.hpp"

#include <utility>

#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {

bool OwnBytes::take(Context& context, std::size_t bytes)
{
    const std::lock_guard lock(memory_mutex());
    if (!context.device->take_own(bytes))
        return false;
    context.own_bytes += bytes;
    context_ = &context;
    context_id_ = context.id;
    bytes_ = bytes;
    return true;
}

void OwnBytes::give()
{
    const std::lock_guard lock(memory_mutex());
    const std::size_t bytes = std::exchange(bytes_, 0);
    if (bytes == 0 || context_->id != context_id_ || context_->own_bytes < bytes)
        return; // its context is gone
    context_->own_bytes -= bytes;
    context_->device->give_own(bytes);
}

} // namespace simgpu
