// tests/corpus/programs/oom_lacking_without_pool.cu — the device itself is too small; without a
// pool.
// run: simulate=128MiB pool=off
// truth: verdict clean
// truth: oom function=grow kind=lacking requested=100MiB short_by=72MiB device=0
// truth: failed function=grow calls=1
#include "tests/corpus/corpus.hpp"

bool grow()
{
    void* block = nullptr;
    const bool done = cudaMalloc(&block, 100_MiB) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 100_MiB));
    const bool done = grow();
    check(cudaFree(block));
    return done ? 98 : 0;
}
