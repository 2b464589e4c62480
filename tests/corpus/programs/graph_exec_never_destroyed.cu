// tests/corpus/programs/graph_exec_never_destroyed.cu — an executable graph is made again in each
// step; the old ones stay.
// truth: verdict clean
// truth: owner function=instantiate memory=graph_exec blocks=5
#include "tests/corpus/corpus.hpp"

int main()
{
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    void* block = nullptr;
    check(cudaMalloc(&block, 1000));
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    for (int step = 0; step < 6; ++step) {
        const cudaGraphExec_t executable = instantiate(graph);
        check(cudaGraphLaunch(executable, nullptr));
        if (step == 0)
            check(cudaGraphExecDestroy(executable));
    }
    check(cudaDeviceSynchronize());
    check(cudaGraphDestroy(graph));
    check(cudaFree(block));
}
