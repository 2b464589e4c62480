// tests/corpus/programs/trap_graph_launch_freed.cu — what launches allocate is freed in each of the
// ways there are, before the next launch and behind the graph.
// truth: verdict clean
// truth: graph function=add_allocation blocks=1 bytes=2MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/graphs.hpp"

int main()
{
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0));
    void* const memory = add_allocation(graph, 2_MiB);
    const cudaGraphExec_t executable = instantiate(graph);
    for (int launch = 0; launch < 6; ++launch) {
        check(cudaGraphLaunch(executable, nullptr));
        if (launch % 2 == 0)
            check(cudaFreeAsync(memory, nullptr));
        else
            check(cudaFree(memory));
    }
    check(cudaGraphLaunch(executable, nullptr));
    check(cudaDeviceSynchronize());
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaFree(memory));
}
