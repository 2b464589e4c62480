// tests/corpus/programs/trap_larger_batches.cu — batches get larger in the run, each is freed: the
// largest grows, nothing stays.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    for (int step = 1; step <= 150; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, step * 10_KiB));
        check(cudaMemset(block, 0, step * 10_KiB));
        check(cudaFree(block));
    }
}
