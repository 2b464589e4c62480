// tests/corpus/programs/trap_warm_up.cu — the first ten steps allocate, the rest only works.
// truth: verdict clean
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    std::vector<void*> blocks;
    for (int step = 0; step < 200; ++step) {
        const Range range("step");
        if (step < 10) {
            blocks.push_back(nullptr);
            check(cudaMalloc(&blocks.back(), 256_KiB));
        }
        void* temporary = nullptr;
        check(cudaMalloc(&temporary, 1_MiB));
        check(cudaMemset(blocks[step % blocks.size()], 0, 256_KiB));
        check(cudaFree(temporary));
    }
    for (void* const block : blocks)
        check(cudaFree(block));
}
