// tests/corpus/programs/trap_graph_frees_itself.cu — a graph with an allocation and its free,
// launched many times.
// truth: verdict clean
// truth: graph function=main blocks=1 bytes=1MiB
#include "tests/corpus/corpus.hpp"

int main()
{
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
    parameters.bytesize = 1_MiB;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t allocation = nullptr;
    cudaGraphNode_t free = nullptr;
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &parameters));
    check(cudaGraphAddMemFreeNode(&free, graph, &allocation, 1, parameters.dptr));
    const cudaGraphExec_t executable = instantiate(graph);
    for (int times = 0; times < 20; ++times)
        check(cudaGraphLaunch(executable, nullptr));
    check(cudaDeviceSynchronize());
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaDeviceGraphMemTrim(0));
}
