// tests/corpus/programs/damage_use_after_free.cu — memory is written after it was freed.
// run: set=poison=0xa5 set=pool_sync=strict
// truth: verdict clean
// truth: damage kind=use-after-free
#include "tests/corpus/corpus.hpp"

int main()
{
    char* block = nullptr;
    check(cudaMalloc(&block, 100000));
    check(cudaFree(block));
    check(cudaMemset(block + 500, 1, 16));
    check(cudaDeviceSynchronize());
    check(cudaMalloc(&block, 100000));
    check(cudaFree(block));
}
