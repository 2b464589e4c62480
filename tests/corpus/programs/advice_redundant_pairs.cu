// tests/corpus/programs/advice_redundant_pairs.cu — a buffer of one size is allocated and freed in
// each of 200 steps: it could be kept.
// truth: verdict clean
// truth: advice function=step kind=redundant-pairs saving_bytes=0 blocks=199 block_bytes=2MiB phase=step
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void step()
{
    const Range range("step");
    void* block = nullptr;
    check(cudaMalloc(&block, 2_MiB));
    check(cudaMemset(block, 0, 2_MiB));
    check(cudaFree(block));
}

int main()
{
    const volatile int steps = 200; // volatile: an unrolled loop would call step from two places
    for (int i = 0; i < steps; ++i)
        step();
}
