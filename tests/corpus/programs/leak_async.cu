// tests/corpus/programs/leak_async.cu — stream-ordered memory; its stream is destroyed, which frees
// nothing.
// truth: verdict leaks
// truth: leak function=enqueue memory=async api=cudaMallocAsync blocks=2 bytes=2*128KiB rows=2 fingerprints=1
#include "tests/corpus/corpus.hpp"

void* enqueue(cudaStream_t stream)
{
    void* block = nullptr;
    check(cudaMallocAsync(&block, 128_KiB, stream));
    check(cudaMemsetAsync(block, 0, 128_KiB, stream));
    return block;
}

int main()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    enqueue(stream);
    check(cudaFreeAsync(enqueue(stream), stream));
    enqueue(stream);
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
}
