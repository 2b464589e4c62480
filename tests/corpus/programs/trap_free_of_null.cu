// tests/corpus/programs/trap_free_of_null.cu — frees of null pointers and of empty blocks are no
// frees.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    void* block = nullptr;
    check(cudaFree(nullptr));
    check(cudaFreeHost(nullptr));
    check(cudaMalloc(&block, 0));
    check(cudaFree(block));
    check(cudaMalloc(&block, 1));
    check(cudaFree(block));
}
