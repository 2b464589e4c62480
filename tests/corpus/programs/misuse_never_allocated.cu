// tests/corpus/programs/misuse_never_allocated.cu — a pointer of the host's own is freed.
// truth: verdict clean
// truth: misuse function=main kind=never-allocated calls=1
#include "tests/corpus/corpus.hpp"

int main()
{
    void* block = nullptr;
    char on_stack[64];
    check(cudaMalloc(&block, 4096));
    check(cudaFree(block));
    check(cudaMalloc(&block, 8192));
    const bool done = cudaFreeHost(on_stack) == cudaSuccess;
    cudaGetLastError();
    check(cudaFree(block));
    return done ? 98 : 0;
}
