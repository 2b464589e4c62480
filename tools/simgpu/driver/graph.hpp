// tools/simgpu/driver/graph.hpp — graphs, as other files see them.
#pragma once

#include "tools/simgpu/driver/allocation.hpp"

namespace simgpu {

// A graph's memory was freed by someone: the address stays the graph's.
void release_graph_memory_locked(const Allocation& allocation);

} // namespace simgpu
