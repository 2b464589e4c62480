// tools/simgpu/driver/pool.hpp — stream-ordered pools, as other files see them.
#pragma once

#include "tools/simgpu/driver/allocation.hpp"

namespace simgpu {

void give_to_pool_locked(const Allocation& allocation);
// What a pool holds above its release threshold goes back to the device when a program synchronises.
void trim_pools_after_sync();

} // namespace simgpu
