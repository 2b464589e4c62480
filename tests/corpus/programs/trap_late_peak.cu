// tests/corpus/programs/trap_late_peak.cu — an evaluation at the end takes much memory, once, and
// frees it: a peak, no growth.
// truth: verdict clean
// truth: total peak_device_bytes=1MiB+24*1MiB
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void evaluate()
{
    std::vector<void*> blocks(24);
    for (void*& block : blocks)
        check(cudaMalloc(&block, 1_MiB));
    for (void* const block : blocks)
        check(cudaFree(block));
}

int main()
{
    void* weights = nullptr;
    check(cudaMalloc(&weights, 1_MiB));
    for (int step = 0; step < 100; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 512_KiB));
        check(cudaFree(block));
    }
    evaluate();
    check(cudaFree(weights));
}
