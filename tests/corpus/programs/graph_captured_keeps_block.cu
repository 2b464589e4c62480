// tests/corpus/programs/graph_captured_keeps_block.cu — what a captured stream allocates is the
// graph's, what it only uses is the program's.
// truth: verdict leaks
// truth: leak function=weights memory=device blocks=1 bytes=512KiB
// truth: graph function=capture blocks=1 bytes=64KiB
#include "tests/corpus/corpus.hpp"

void* weights()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 512_KiB));
    return block;
}

cudaGraph_t capture(cudaStream_t stream, void* input)
{
    cudaGraph_t graph = nullptr;
    void* block = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(cudaMallocAsync(&block, 64_KiB, stream));
    check(cudaMemcpyAsync(block, input, 64_KiB, cudaMemcpyDeviceToDevice, stream));
    check(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    void* const input = weights();
    const cudaGraph_t graph = capture(stream, input);
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream));
}
