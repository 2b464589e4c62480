// tests/corpus/programs/trap_graph_freed_by_another.cu — one graph allocates, another one frees it;
// both are launched in turn.
// truth: verdict clean
// truth: graph function=add_allocation blocks=1 bytes=512KiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/graphs.hpp"

cudaGraphExec_t freeing(void* memory)
{
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, memory));
    const cudaGraphExec_t executable = instantiate(graph);
    check(cudaGraphDestroy(graph));
    return executable;
}

int main()
{
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0));
    void* const memory = add_allocation(graph, 512_KiB);
    const cudaGraphExec_t allocates = instantiate(graph);
    const cudaGraphExec_t frees = freeing(memory);
    for (int turn = 0; turn < 30; ++turn) {
        check(cudaGraphLaunch(allocates, nullptr));
        check(cudaGraphLaunch(frees, nullptr));
        check(cudaDeviceSynchronize());
    }
    check(cudaGraphExecDestroy(allocates));
    check(cudaGraphExecDestroy(frees));
    check(cudaGraphDestroy(graph));
}
