// interpose/serve/contexts/graph_captures.cpp — a small table under a lock. Where it has no room,
// the graph is told as one more when its capture ends.
#include "interpose/serve/contexts/graph_captures.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "tracker/capture/lock.hpp"

namespace vramscope::hooks {
namespace {

constinit capture::Lock lock;
constinit CUgraph graphs[64]{}; // null: the slot is free

bool replace(CUgraph old, CUgraph by) noexcept
{
    const std::lock_guard guard(lock);
    CUgraph* const found = std::find(std::begin(graphs), std::end(graphs), old);
    if (found == std::end(graphs))
        return false;
    *found = by;
    return true;
}

} // namespace

constinit std::atomic<int> graphs_added_to{0};

void capture_adds_to(CUgraph graph) noexcept
{
    if (graph && replace(nullptr, graph))
        graphs_added_to.fetch_add(1, std::memory_order_relaxed);
}

bool forget_added_to(CUgraph graph) noexcept
{
    if (!graph || !replace(graph, nullptr))
        return false;
    graphs_added_to.fetch_sub(1, std::memory_order_relaxed);
    return true;
}

} // namespace vramscope::hooks
