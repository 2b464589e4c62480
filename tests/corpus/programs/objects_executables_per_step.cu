// tests/corpus/programs/objects_executables_per_step.cu — a graph is made ready anew for each
// token; what it was before stays.
// truth: verdict clean
// truth: owner function=decode memory=graph_exec blocks=64
// truth: object function=decode object=graph_exec made=64 ended=0 alive=64 class=growing per=call
// truth: object function=main object=graph_object made=1 ended=1 alive=0
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
