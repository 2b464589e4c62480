// tests/corpus/programs/objects_graph_per_request.cu — a graph and what it runs as are made for
// each request, and neither is ever destroyed (llama.cpp #25835).
// run: takes=graph_node=61KiB
// truth: verdict clean
// truth: object function=serve object=graph_object api=cudaStreamEndCapture made=60 ended=0 alive=60 class=growing per=request
// truth: object function=serve object=graph_exec made=60 ended=0 alive=60 class=growing per=request each=61KiB
// truth: object function=main object=stream made=1 ended=1 alive=0
// truth: owner function=serve memory=graph_exec blocks=60
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

[[gnu::noinline]] void serve(cudaStream_t stream, void* block)
{
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(cudaMemsetAsync(block, 0, 64_KiB, stream));
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    check(cudaGraphLaunch(executable, stream));
}

int main()
{
    cudaStream_t stream = nullptr;
    void* block = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&block, 64_KiB));
    for (int request = 0; request < 60; ++request) {
        const Range range("request");
        serve(stream, block);
    }
    check(cudaStreamSynchronize(stream));
    check(cudaFree(block));
    check(cudaStreamDestroy(stream));
}
