// tests/corpus/programs/trap_address_reused.cu — the same few addresses are handed out again and
// again, in other sizes and by other lines.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

void small()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1000));
    check(cudaFree(block));
}

void large()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 3_MiB));
    check(cudaFree(block));
}

int main()
{
    for (int i = 0; i < 500; ++i) {
        small();
        if (i % 3 == 0)
            large();
        if (i % 50 == 0)
            check(cudaDeviceSynchronize());
    }
}
