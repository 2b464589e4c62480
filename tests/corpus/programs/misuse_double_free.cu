// tests/corpus/programs/misuse_double_free.cu — a block is freed twice; the second time is refused.
// truth: verdict clean
// truth: misuse function=destroy kind=double-free calls=1
#include "tests/corpus/corpus.hpp"

bool destroy(void* block)
{
    const bool done = cudaFree(block) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 3000));
    const bool first = destroy(block);
    return first && !destroy(block) ? 0 : 98;
}
