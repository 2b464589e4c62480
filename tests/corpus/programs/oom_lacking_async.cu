// tests/corpus/programs/oom_lacking_async.cu — stream-ordered memory runs out: the driver's pool,
// not ours.
// run: simulate=64MiB
// truth: verdict clean
// truth: oom function=grow kind=lacking requested=60MiB device=0
// truth: failed function=grow calls=1
#include "tests/corpus/corpus.hpp"

bool grow()
{
    void* block = nullptr;
    const bool done = cudaMallocAsync(&block, 60_MiB, nullptr) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* block = nullptr;
    check(cudaMallocAsync(&block, 30_MiB, nullptr));
    const bool done = grow();
    check(cudaFreeAsync(block, nullptr));
    check(cudaDeviceSynchronize());
    return done ? 98 : 0;
}
