// tests/corpus/graphs.hpp — nodes that allocate, for programs of the corpus.
#pragma once

#include "tests/corpus/corpus.hpp"

// Returns the address at which each launch allocates. A function of its own in call stacks.
inline void* add_allocation(cudaGraph_t graph, std::size_t bytes)
{
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
    parameters.bytesize = bytes;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters));
    return parameters.dptr;
}
