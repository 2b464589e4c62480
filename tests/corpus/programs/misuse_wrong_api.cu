// tests/corpus/programs/misuse_wrong_api.cu — device memory is freed by the function for pinned
// memory.
// truth: verdict leaks
// truth: leak function=main memory=device blocks=1 bytes=4096
// truth: misuse function=release kind=wrong-api calls=1
#include "tests/corpus/corpus.hpp"

bool release(void* block)
{
    const bool done = cudaFreeHost(block) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 4096));
    return release(block) ? 98 : 0;
}
