// interpose/serve/contexts/graph_memory.cpp — nodes by address, effects by executable graph.
#include "interpose/serve/contexts/graph_memory.hpp"

#include <mutex>

#include "interpose/hooks/inside_driver.hpp"
#include "interpose/pool/address_map.hpp"
#include "tracker/capture/lock.hpp"

namespace vramscope::hooks {

constinit std::atomic<std::uint32_t> launch_effects{0};

namespace {

constexpr int kMostNested = 16; // graphs in graphs; the driver has no cycle

struct Node {
    std::uint64_t address;
    std::uint32_t stack;
    std::uint32_t generation; // the log that has the stack
};

constinit std::atomic<bool> any_nodes{false};
constinit capture::Lock lock; // of the tables
// They are used up to the last call of a process, and never destroyed.
union Tables {
    constexpr Tables() noexcept : all() {}
    ~Tables() {}
    struct {
        pool::Slab<Node> nodes;
        pool::AddressMap nodes_at;
        pool::Slab<LaunchEffect> effects;
        pool::AddressMap effects_of; // the first of an executable graph
    } all;
};
constinit Tables tables;
constinit auto& nodes = tables.all.nodes;
constinit auto& nodes_at = tables.all.nodes_at;
constinit auto& effects = tables.all.effects;
constinit auto& effects_of = tables.all.effects_of;

pool::Index find_node(std::uint64_t address) noexcept
{
    return nodes_at.find(address, [](pool::Index index) { return nodes[index].address; });
}

pool::Index first_effect(std::uint64_t executable) noexcept
{
    return effects_of.find(executable, [](pool::Index index) { return effects[index].executable; });
}

void forget(std::uint64_t executable) noexcept
{
    pool::Index index = first_effect(executable);
    if (index)
        effects_of.erase(executable, index);
    while (index) {
        const pool::Index next = effects[index].next;
        effects.remove(index);
        launch_effects.fetch_sub(1, std::memory_order_relaxed);
        index = next;
    }
}

// An address that the graph allocates and frees itself leaves nothing behind: the two are taken
// out, in whichever order the nodes are listed.
pool::Index add(pool::Index first, LaunchEffect effect) noexcept
{
    for (pool::Index before = 0, at = first; at; before = at, at = effects[at].next) {
        if (effects[at].address != effect.address || !effects[at].bytes == !effect.bytes)
            continue;
        const pool::Index next = effects[at].next;
        effects.remove(at);
        if (!before)
            return next;
        effects[before].next = next;
        return first;
    }
    const pool::Index index = effects.add();
    if (!index)
        return first;
    effect.next = first;
    effects[index] = effect;
    return index;
}

LaunchEffect effect_of(const Driver& driver, CUgraphNode node, CUgraphNodeType type) noexcept
{
    LaunchEffect effect;
    if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        CUDA_MEM_ALLOC_NODE_PARAMS params{};
        if (driver.allocation_of_node && driver.allocation_of_node(node, &params) == CUDA_SUCCESS) {
            effect.address = params.dptr;
            effect.bytes = params.bytesize;
        }
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        CUdeviceptr address = 0;
        if (driver.free_of_node && driver.free_of_node(node, &address) == CUDA_SUCCESS)
            effect.address = address;
    }
    return effect;
}

// Adds the effects of a graph to the list that begins at `first`.
pool::Index read(const Driver& driver, CUgraph graph, std::uint64_t executable, pool::Index first,
                 int depth) noexcept
{
    std::size_t count = 0;
    if (depth == kMostNested || driver.nodes_of_graph(graph, nullptr, &count) != CUDA_SUCCESS ||
        count == 0)
        return first;
    const std::size_t bytes = count * sizeof(CUgraphNode);
    auto* const list = static_cast<CUgraphNode*>(pool::map_pages(bytes));
    if (!list)
        return first;
    if (driver.nodes_of_graph(graph, list, &count) != CUDA_SUCCESS)
        count = 0;
    for (std::size_t at = 0; at < count; ++at) {
        CUgraphNodeType type{};
        CUgraph child = nullptr;
        if (driver.type_of_node(list[at], &type) != CUDA_SUCCESS)
            continue;
        if (type == CU_GRAPH_NODE_TYPE_GRAPH && driver.graph_of_node &&
            driver.graph_of_node(list[at], &child) == CUDA_SUCCESS) {
            first = read(driver, child, executable, first, depth + 1);
            continue;
        }
        LaunchEffect effect = effect_of(driver, list[at], type);
        if (!effect.address)
            continue;
        const std::lock_guard guard(lock);
        if (const pool::Index known = effect.bytes ? find_node(effect.address) : 0) {
            effect.stack = nodes[known].stack;
            effect.generation = nodes[known].generation;
        }
        effect.executable = executable;
        first = add(first, effect);
    }
    ::munmap(list, bytes);
    return first;
}

} // namespace

void node_allocates(std::uint64_t address, std::uint64_t stack) noexcept
{
    const std::uint32_t generation = log::process->generation;
    const std::lock_guard guard(lock);
    pool::Index index = find_node(address);
    if (!index) {
        if (!nodes_at.make_room() || !(index = nodes.add()))
            return;
        nodes[index].address = address;
        nodes_at.insert(address, index);
    }
    nodes[index].stack = static_cast<std::uint32_t>(stack);
    nodes[index].generation = generation;
    any_nodes.store(true, std::memory_order_relaxed);
}

void read_graph(log::Thread& thread, CUgraph graph, CUgraphExec executable) noexcept
{
    const Driver* const driver =
        any_nodes.load(std::memory_order_relaxed) ? Driver::find() : nullptr;
    if (!driver || !driver->nodes_of_graph || !driver->type_of_node)
        return;
    const auto key = reinterpret_cast<std::uintptr_t>(executable);
    const pool::Index first = in_driver(thread, [&] { return read(*driver, graph, key, 0, 0); });
    const std::lock_guard guard(lock);
    forget(key); // one whose end was not seen
    if (!first || !effects_of.make_room())
        return;
    effects_of.insert(key, first);
    for (pool::Index at = first; at; at = effects[at].next)
        launch_effects.fetch_add(1, std::memory_order_relaxed);
}

void forget_graph(CUgraphExec executable) noexcept
{
    if (!launch_effects.load(std::memory_order_relaxed))
        return;
    const std::lock_guard guard(lock);
    forget(reinterpret_cast<std::uintptr_t>(executable));
}

LaunchEffect next_effect(CUgraphExec executable, const LaunchEffect* before) noexcept
{
    const auto key = reinterpret_cast<std::uintptr_t>(executable);
    const std::lock_guard guard(lock);
    const pool::Index index = before ? before->next : first_effect(key);
    if (!index || index >= effects.end() || effects[index].executable != key)
        return {};
    return effects[index];
}

} // namespace vramscope::hooks
