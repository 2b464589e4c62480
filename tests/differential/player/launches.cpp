// tests/differential/player/launches.cpp — what launches of graphs leave, by the nodes of the graph.
#include "tests/differential/player/operations.hpp"

namespace differential {

void World::made_executable(CUgraph graph, CUgraphExec exec)
{
    Launch launch;
    std::size_t count = 0;
    quiet = true;
    cuGraphGetNodes(graph, nullptr, &count);
    std::vector<CUgraphNode> nodes(count);
    cuGraphGetNodes(graph, nodes.data(), &count);
    for (const CUgraphNode node : nodes) {
        CUDA_MEM_ALLOC_NODE_PARAMS made{};
        CUdeviceptr freed = 0;
        CUgraphNodeType type{};
        cuGraphNodeGetType(node, &type);
        if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            cuGraphMemAllocNodeGetParams(node, &made) == CUDA_SUCCESS)
            launch.allocates.emplace_back(made.dptr, made.bytesize);
        if (type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
            cuGraphMemFreeNodeGetParams(node, &freed) == CUDA_SUCCESS)
            launch.frees.push_back(freed);
    }
    quiet = false;
    for (std::size_t at = launch.frees.size(); at-- > 0;)
        if (std::erase_if(launch.allocates,
                          [&](const auto& one) { return one.first == launch.frees[at]; }) > 0)
            launch.frees.erase(launch.frees.begin() + static_cast<std::ptrdiff_t>(at));
    launches_[reinterpret_cast<std::uint64_t>(exec)] = std::move(launch);
}

void World::launched(CUgraphExec exec)
{
    const Launch& launch = launches_[reinterpret_cast<std::uint64_t>(exec)];
    const auto end = [this](std::uint64_t address) {
        if (Block* const block = model_.live_at(address, &is<Kind::graph_launch>))
            model_.freed(*block);
    };
    for (const std::uint64_t address : launch.frees)
        end(address);
    for (const auto& [address, bytes] : launch.allocates) {
        end(address); // it frees on launch
        allocated(Kind::graph_launch, address, bytes);
    }
}

} // namespace differential
