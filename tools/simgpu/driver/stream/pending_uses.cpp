// tools/simgpu/driver/stream/pending_uses.cpp — simgpu_pending_uses, for tests.
#include <cstdio>

#include "tools/simgpu/driver/context/context.hpp"
#include "tools/simgpu/simgpu.h"

namespace simgpu {
namespace {

void describe(const PendingUse& use, char* text, std::size_t room)
{
    const Stream& stream = *use.done.stream;
    const Context& context = *stream.context;
    std::snprintf(text, room,
                  "%s %s %zu bytes at 0x%zx, %s in stream %llu of context %llu (device %d)",
                  use.entry ? use.entry : "work", use.touch.writes ? "writes" : "reads",
                  use.touch.bytes, static_cast<std::size_t>(use.touch.start),
                  use.running ? "running" : "queued", static_cast<unsigned long long>(stream.id),
                  static_cast<unsigned long long>(context.id), context.device->ordinal());
}

} // namespace
} // namespace simgpu

extern "C" {

SIMGPU_EXPORT unsigned long long simgpu_pending_uses(unsigned long long address, size_t bytes)
{
    return simgpu::pending_uses(address, bytes).size();
}

SIMGPU_EXPORT unsigned long long simgpu_describe_pending_use(unsigned long long address,
                                                             size_t bytes, char* text, size_t room)
{
    const auto uses = simgpu::pending_uses(address, bytes);
    if (!uses.empty() && text && room > 0)
        simgpu::describe(uses.front(), text, room);
    return uses.size();
}

} // extern "C"
