// interpose/serve/contexts/graph_memory.hpp — what a launch of a graph allocates and leaves.
//
// A node that allocates has its address from the moment it is made, and each launch allocates
// there without a call. What the graph does not free itself is then the program's to free. Which
// nodes an executable graph has is asked of the driver as it is made, if the process ever made such
// a node. Any thread; no lock is held across a call of the driver.
#pragma once

#include <atomic>

#include "interpose/hooks/driver.hpp"

namespace vramscope::hooks {

// A node that allocates at `address` was made at this call stack. What is kept grows with the
// addresses that nodes of this process ever had.
void node_allocates(std::uint64_t address, std::uint64_t stack) noexcept;
void read_graph(log::Thread& thread, CUgraph graph, CUgraphExec executable) noexcept;
void forget_graph(CUgraphExec executable) noexcept;

// What one launch of an executable graph does to one address, beyond the launch itself.
struct LaunchEffect {
    std::uint64_t executable = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0; // that it allocates; 0: it frees what is there
    std::uint32_t stack = 0; // of the node; 0: not known in this log
    std::uint32_t generation = 0;
    std::uint32_t next = 0; // number of the next effect of this graph; 0: there is none
};

extern constinit std::atomic<std::uint32_t> launch_effects; // of all executable graphs
// The first effect of a launch, or the one behind `before`. An address of 0: there is none.
LaunchEffect next_effect(CUgraphExec executable, const LaunchEffect* before) noexcept;

} // namespace vramscope::hooks
