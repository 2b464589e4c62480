// tests/corpus/programs/graph_memory_kept.cu — a graph allocates and has no node that frees; nobody
// else frees what its launch allocated.
// truth: verdict leaks
// truth: leak function=add_allocation memory=graph_launch blocks=1 bytes=1MiB
// truth: graph function=add_allocation blocks=1 bytes=1MiB
// truth: owner function=instantiate memory=graph_exec blocks=1
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/graphs.hpp"

int main()
{
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0));
    add_allocation(graph, 1_MiB);
    const cudaGraphExec_t executable = instantiate(graph);
    check(cudaGraphLaunch(executable, nullptr));
    check(cudaDeviceSynchronize());
}
