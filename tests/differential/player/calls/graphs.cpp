// tests/differential/player/calls/graphs.cpp — graphs, their memory nodes, and what comes of them.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

void create(World& world)
{
    Out<CUgraph> graph;
    world.maybe_null(graph);
    if (CALL(world, cuGraphCreate, graph, world.rng().one_of<unsigned>({0, 0, 5})) == CUDA_SUCCESS)
        world.add(Thing::graph, graph.value);
}

void destroy(World& world)
{
    const std::uint64_t handle = world.handle(Thing::graph);
    if (CALL(world, cuGraphDestroy, reinterpret_cast<CUgraph>(handle)) == CUDA_SUCCESS)
        if (Object* const graph = world.known(Thing::graph, handle))
            graph->live = false;
}

void made_exec(World& world, CUresult result, CUgraph graph, const Out<CUgraphExec>& exec)
{
    if (result != CUDA_SUCCESS)
        return;
    world.add(Thing::exec, exec.value);
    world.made_executable(graph, exec.value);
}

void instantiate(World& world)
{
    Out<CUgraphExec> exec;
    world.maybe_null(exec);
    const auto graph = world.handle_as<CUgraph>(Thing::graph);
    made_exec(world,
              CALL(world, cuGraphInstantiateWithFlags, exec, graph,
                   world.rng().one_of<unsigned long long>({0, 0, 1, 0xff})),
              graph, exec);
}

void destroy_exec(World& world)
{
    const std::uint64_t handle = world.handle(Thing::exec);
    if (CALL(world, cuGraphExecDestroy, reinterpret_cast<CUgraphExec>(handle)) == CUDA_SUCCESS)
        if (Object* const exec = world.known(Thing::exec, handle))
            exec->live = false;
}

void instantiate_v1(World& world)
{
    Out<CUgraphExec> exec;
    Out<CUgraphNode> node;
    world.maybe_null(exec);
    world.maybe_null(node);
    char* const log = nullptr;
    const auto graph = world.handle_as<CUgraph>(Thing::graph);
    made_exec(world, CALL(world, cuGraphInstantiate, exec, graph, node, log, std::size_t{0}), graph,
              exec);
}

void instantiate_v2(World& world)
{
    Out<CUgraphExec> exec;
    Out<CUgraphNode> node;
    world.maybe_null(exec);
    world.maybe_null(node);
    char* const log = nullptr;
    const auto graph = world.handle_as<CUgraph>(Thing::graph);
    made_exec(world, CALL(world, cuGraphInstantiate_v2, exec, graph, node, log, std::size_t{0}),
              graph, exec);
}

#if CUDA_VERSION >= 12000
void instantiate_with_params(World& world)
{
    Out<CUgraphExec> exec;
    world.maybe_null(exec);
    In<CUDA_GRAPH_INSTANTIATE_PARAMS> parameters;
    const auto graph = world.handle_as<CUgraph>(Thing::graph);
    made_exec(world, CALL(world, cuGraphInstantiateWithParams, exec, graph, parameters), graph,
              exec);
}

void instantiate_with_params_ptsz(World& world)
{
    Out<CUgraphExec> exec;
    world.maybe_null(exec);
    In<CUDA_GRAPH_INSTANTIATE_PARAMS> parameters;
    const auto graph = world.handle_as<CUgraph>(Thing::graph);
    made_exec(world, CALL(world, cuGraphInstantiateWithParams_ptsz, exec, graph, parameters), graph,
              exec);
}
#endif

void launch(World& world)
{
    const auto exec = world.handle_as<CUgraphExec>(Thing::exec);
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream);
    if (CALL(world, cuGraphLaunch, exec, stream) == CUDA_SUCCESS && !captured)
        world.launched(exec);
}

void launch_ptsz(World& world)
{
    const auto exec = world.handle_as<CUgraphExec>(Thing::exec);
    const CUstream stream = world.stream();
    const bool captured = world.capturing(stream, true);
    if (CALL(world, cuGraphLaunch_ptsz, exec, stream) == CUDA_SUCCESS && !captured)
        world.launched(exec);
}

CUDA_MEM_ALLOC_NODE_PARAMS wanted_memory(World& world)
{
    CUDA_MEM_ALLOC_NODE_PARAMS wanted{};
    wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, world.device()};
    wanted.bytesize = world.size();
    return wanted;
}

// By reference: the address is there only after the call.
template <class Wanted>
void added(World& world, CUresult result, const Wanted& wanted)
{
    if (result == CUDA_SUCCESS)
        world.allocated(Kind::graph, wanted.dptr, wanted.bytesize);
}

void add_memory_node(World& world)
{
    Out<CUgraphNode> node;
    world.maybe_null(node);
    In<CUDA_MEM_ALLOC_NODE_PARAMS> wanted;
    wanted.value = wanted_memory(world);
    CUgraphNode* const none = nullptr;
    added(world,
          CALL(world, cuGraphAddMemAllocNode, node, world.handle_as<CUgraph>(Thing::graph), none,
               std::size_t{0}, wanted),
          wanted.value);
}

#if CUDA_VERSION >= 12030
In<CUgraphNodeParams> node_of_memory(World& world)
{
    In<CUgraphNodeParams> node;
    node.value.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    node.value.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    node.value.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, world.device()};
    node.value.alloc.bytesize = world.size();
    return node;
}

void add_node_v1(World& world)
{
    Out<CUgraphNode> node;
    world.maybe_null(node);
    auto wanted = node_of_memory(world);
    CUgraphNode* const none = nullptr;
    added(world,
          CALL(world, cuGraphAddNode, node, world.handle_as<CUgraph>(Thing::graph), none,
               std::size_t{0}, wanted),
          wanted.value.alloc);
}

void add_node_v2(World& world)
{
    Out<CUgraphNode> node;
    world.maybe_null(node);
    auto wanted = node_of_memory(world);
    CUgraphNode* const none = nullptr;
    CUgraphEdgeData* const no_edges = nullptr;
    added(world,
          CALL(world, cuGraphAddNode_v2, node, world.handle_as<CUgraph>(Thing::graph), none,
               no_edges, std::size_t{0}, wanted),
          wanted.value.alloc);
}
#endif

void memory_counters(World& world)
{
    Out<cuuint64_t> value;
    world.maybe_null(value);
    const auto attribute = world.rng().one_of(
        {CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT});
    CALL(world, cuDeviceGetGraphMemAttribute, world.device(), attribute, value);
}

void trim(World& world)
{
    CALL(world, cuDeviceGraphMemTrim, world.device());
}

constexpr Operation kOperations[] = {
    {1, &create},
    {1, &destroy},
    {1, &instantiate},
    {1, &destroy_exec},
    {1, &memory_counters},
    {1, &trim},
    {1, &instantiate_v1},
    {1, &instantiate_v2},
    {2, &launch},
    {1, &launch_ptsz},
    {2, &add_memory_node},
#if CUDA_VERSION >= 12000
    {1, &instantiate_with_params},
    {1, &instantiate_with_params_ptsz},
#endif
#if CUDA_VERSION >= 12030
    {1, &add_node_v1},
    {1, &add_node_v2},
#endif
};

} // namespace

std::span<const Operation> graph_operations()
{
    return kOperations;
}

} // namespace differential
