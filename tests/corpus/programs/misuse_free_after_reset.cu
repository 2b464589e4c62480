// tests/corpus/programs/misuse_free_after_reset.cu — a block is freed after cudaDeviceReset took
// it.
// truth: verdict leaks
// truth: leak function=main kind=leaked-at-reset memory=device blocks=1 bytes=2MiB
// truth: misuse function=late_free kind=free-after-context calls=1 ended_api=cudaDeviceReset ended_function=start_again
#include "tests/corpus/corpus.hpp"

void start_again()
{
    check(cudaDeviceReset());
}

bool late_free(void* block)
{
    const bool done = cudaFree(block) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 2_MiB));
    start_again();
    return late_free(block) ? 98 : 0;
}
