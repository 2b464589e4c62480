// tests/corpus/programs/oom_then_smaller.cu — a program that halves what it asks for until it gets
// it.
// run: set=limit=100MiB
// truth: verdict clean
// truth: oom function=largest_possible kind=lacking requested=400MiB short_by=300MiB
// truth: oom function=largest_possible kind=lacking requested=200MiB short_by=100MiB
// truth: failed function=largest_possible calls=2
#include "tests/corpus/corpus.hpp"

void* largest_possible(size_t bytes)
{
    void* block = nullptr;
    while (cudaMalloc(&block, bytes) != cudaSuccess) {
        cudaGetLastError();
        bytes /= 2;
    }
    return block;
}

int main()
{
    check(cudaFree(largest_possible(400_MiB)));
}
