// tests/corpus/programs/leak_graph_captured_launch.cu — a captured allocation is nobody's to free
// until the graph is launched; then it is.
// truth: verdict leaks
// truth: leak function=capture memory=graph_launch blocks=1 bytes=64KiB
// truth: graph function=capture blocks=2 bytes=64KiB+96KiB rows=2
#include "tests/corpus/corpus.hpp"

// Of the two allocations the graph frees one itself.
cudaGraph_t capture(cudaStream_t stream)
{
    cudaGraph_t graph = nullptr;
    void* kept = nullptr;
    void* temporary = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(cudaMallocAsync(&kept, 64_KiB, stream));
    check(cudaMallocAsync(&temporary, 96_KiB, stream));
    check(cudaMemcpyAsync(kept, temporary, 64_KiB, cudaMemcpyDeviceToDevice, stream));
    check(cudaFreeAsync(temporary, stream));
    check(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    const cudaGraph_t graph = capture(stream);
    const cudaGraphExec_t executable = instantiate(graph);
    check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream));
}
