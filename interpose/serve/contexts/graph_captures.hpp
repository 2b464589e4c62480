// interpose/serve/contexts/graph_captures.hpp — graphs of the program's that captures add to.
//
// The end of such a capture gives the program a graph that it has already, and not one more.
#pragma once

#include <atomic>

#include "interpose/hooks/driver_api.hpp"

namespace vramscope::hooks {

void capture_adds_to(CUgraph graph) noexcept;
extern constinit std::atomic<int> graphs_added_to;
bool forget_added_to(CUgraph graph) noexcept;
// This graph was given at the end of a capture, or is destroyed. True: a capture added to it.
inline bool was_added_to(CUgraph graph) noexcept
{
    return graphs_added_to.load(std::memory_order_relaxed) != 0 && forget_added_to(graph);
}

} // namespace vramscope::hooks
