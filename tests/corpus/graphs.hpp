// tests/corpus/graphs.hpp — nodes that allocate and free, for programs of the corpus.
#pragma once

#include "tests/corpus/corpus.hpp"

// Returns the address at which each launch allocates. A function of its own in call stacks.
inline void* add_allocation(cudaGraph_t graph, std::size_t bytes, cudaGraphNode_t* node)
{
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
    parameters.bytesize = bytes;
    check(cudaGraphAddMemAllocNode(node, graph, nullptr, 0, &parameters));
    return parameters.dptr;
}
inline void* add_allocation(cudaGraph_t graph, std::size_t bytes)
{
    cudaGraphNode_t node = nullptr;
    return add_allocation(graph, bytes, &node);
}
