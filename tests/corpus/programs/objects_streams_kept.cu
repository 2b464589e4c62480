// tests/corpus/programs/objects_streams_kept.cu — a stream is made in each step and kept in a list (nvbench kept
// 500,000). Its events are destroyed.
// run: takes=stream=2MiB
// truth: verdict clean
// truth: object function=step object=stream api=cudaStreamCreate made=60 ended=0 alive=60 class=growing per=step each=2MiB
// truth: object function=step object=event api=cudaEventCreate made=60 ended=60 alive=0
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

[[gnu::noinline]] void step(std::vector<cudaStream_t>& kept)
{
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
    void* block = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaEventCreate(&done));
    check(cudaMalloc(&block, 64_KiB));
    check(cudaEventRecord(done, stream));
    check(cudaEventSynchronize(done));
    check(cudaEventDestroy(done));
    check(cudaFree(block));
    kept.push_back(stream);
}

int main()
{
    std::vector<cudaStream_t> kept;
    for (int number = 0; number < 60; ++number) {
        const Range range("step");
        step(kept);
    }
}
