// tests/corpus/programs/leak_device_reset.cu — cudaDeviceReset in the middle takes what was alive;
// what comes after is freed.
// truth: verdict leaks
// truth: leak function=first_half kind=leaked-at-reset memory=device blocks=1 bytes=40000
#include "tests/corpus/corpus.hpp"

void first_half()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 40000));
    check(cudaMemset(block, 0, 40000));
}

void second_half()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 40000));
    check(cudaFree(block));
}

int main()
{
    first_half();
    check(cudaDeviceReset());
    second_half();
}
