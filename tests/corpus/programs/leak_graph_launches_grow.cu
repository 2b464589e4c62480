// tests/corpus/programs/leak_graph_launches_grow.cu — each round builds, launches and destroys a
// graph, whose memory stays.
// truth: verdict leaks
// truth: leak function=add_allocation memory=graph_launch blocks=24 bytes=24*256KiB class=growing per=call slope=256KiB
// truth: graph function=add_allocation blocks=24 bytes=24*256KiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/graphs.hpp"

int main()
{
    for (int round = 0; round < 24; ++round) {
        cudaGraph_t graph = nullptr;
        check(cudaGraphCreate(&graph, 0));
        add_allocation(graph, 256_KiB);
        const cudaGraphExec_t executable = instantiate(graph);
        check(cudaGraphLaunch(executable, nullptr));
        check(cudaDeviceSynchronize());
        check(cudaGraphExecDestroy(executable));
        check(cudaGraphDestroy(graph));
    }
}
