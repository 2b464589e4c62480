// tests/corpus/programs/trap_freed_on_a_stream.cu — cudaMalloc's memory is freed in stream order,
// and cudaMallocAsync's by cudaFree.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    cudaStream_t stream = nullptr;
    void* plain = nullptr;
    void* ordered = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&plain, 1_MiB));
    check(cudaMallocAsync(&ordered, 1_MiB, stream));
    check(cudaFreeAsync(plain, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaFree(ordered));
    check(cudaStreamDestroy(stream));
}
