// tests/corpus/programs/leak_graph_launch.cu — a launch allocates, and nobody frees that: it stays
// when the graph goes.
// truth: verdict leaks
// truth: leak function=add_allocation memory=graph_launch blocks=1 bytes=4MiB
// truth: graph function=add_allocation blocks=1 bytes=4MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/graphs.hpp"

int main()
{
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0));
    add_allocation(graph, 4_MiB);
    const cudaGraphExec_t executable = instantiate(graph);
    check(cudaGraphLaunch(executable, nullptr));
    check(cudaDeviceSynchronize());
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
}
