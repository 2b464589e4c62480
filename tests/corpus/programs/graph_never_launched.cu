// tests/corpus/programs/graph_never_launched.cu — a graph whose node allocates is never launched:
// nothing was allocated.
// truth: verdict clean
// truth: graph function=add_allocation blocks=1 bytes=8MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/graphs.hpp"

int main()
{
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0));
    add_allocation(graph, 8_MiB);
    check(cudaGraphExecDestroy(instantiate(graph)));
    check(cudaGraphDestroy(graph));
}
