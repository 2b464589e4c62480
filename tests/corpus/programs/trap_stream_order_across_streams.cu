// tests/corpus/programs/trap_stream_order_across_streams.cu — allocated on one stream, freed on
// another behind an event.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    cudaStream_t producer = nullptr;
    cudaStream_t consumer = nullptr;
    cudaEvent_t ready = nullptr;
    check(cudaStreamCreate(&producer));
    check(cudaStreamCreate(&consumer));
    check(cudaEventCreate(&ready));
    for (int i = 0; i < 50; ++i) {
        void* block = nullptr;
        check(cudaMallocAsync(&block, 100000, producer));
        check(cudaMemsetAsync(block, 0, 100000, producer));
        check(cudaEventRecord(ready, producer));
        check(cudaStreamWaitEvent(consumer, ready, 0));
        check(cudaFreeAsync(block, consumer));
    }
    check(cudaDeviceSynchronize());
    check(cudaEventDestroy(ready));
    check(cudaStreamDestroy(producer));
    check(cudaStreamDestroy(consumer));
}
