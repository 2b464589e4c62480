// tests/corpus/programs/objects_executables_per_step.cu — a graph is made ready anew for each
// token; what it was before stays.
// truth: verdict clean
// truth: owner function=decode memory=graph_exec blocks=64
// truth: growth function=decode memory=graph_exec per=call
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void decode(cudaGraph_t graph)
{
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    check(cudaGraphLaunch(executable, nullptr));
}

int main()
{
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    for (int token = 0; token < 64; ++token)
        decode(graph);
    check(cudaDeviceSynchronize());
    check(cudaGraphDestroy(graph));
    check(cudaFree(block));
}
