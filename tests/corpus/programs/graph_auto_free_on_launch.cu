// tests/corpus/programs/graph_auto_free_on_launch.cu — each launch frees what the last one
// allocated; the memory of the last launch stays.
// truth: verdict leaks
// truth: leak function=add_allocation memory=graph_launch blocks=1 bytes=1MiB
// truth: graph function=add_allocation blocks=1 bytes=1MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/graphs.hpp"

cudaGraphExec_t instantiate_auto_free(cudaGraph_t graph)
{
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiateWithFlags(&executable, graph,
                                        cudaGraphInstantiateFlagAutoFreeOnLaunch));
    return executable;
}

int main()
{
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0));
    add_allocation(graph, 1_MiB);
    const cudaGraphExec_t executable = instantiate_auto_free(graph);
    for (int launch = 0; launch < 50; ++launch)
        check(cudaGraphLaunch(executable, nullptr));
    check(cudaDeviceSynchronize());
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
}
