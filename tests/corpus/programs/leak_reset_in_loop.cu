// tests/corpus/programs/leak_reset_in_loop.cu — each test of a suite resets the device instead of
// freeing what it has.
// truth: verdict leaks
// truth: leak function=one_test kind=leaked-at-reset memory=device blocks=6 bytes=6*1MiB
#include "tests/corpus/corpus.hpp"

void one_test()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
    void* other = nullptr;
    check(cudaMalloc(&other, 2_MiB));
    check(cudaFree(other));
}

int main()
{
    for (int test = 0; test < 6; ++test) {
        one_test();
        check(cudaDeviceReset());
    }
}
