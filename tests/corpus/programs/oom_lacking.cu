// tests/corpus/programs/oom_lacking.cu — a block that is larger than what is left of the limit,
// whatever is freed.
// run: set=limit=64MiB
// truth: verdict clean
// truth: oom function=grow kind=lacking requested=50MiB short_by=6MiB device=0
// truth: failed function=grow calls=1
#include "tests/corpus/corpus.hpp"

bool grow()
{
    void* block = nullptr;
    const bool done = cudaMalloc(&block, 50_MiB) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 20_MiB));
    const bool done = grow();
    check(cudaFree(block));
    return done ? 98 : 0;
}
