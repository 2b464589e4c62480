// tests/corpus/programs/growth_every_10th_freed.cu — every tenth step keeps a snapshot; the program
// frees them when it ends.
// truth: verdict clean
// truth: growth function=snapshot memory=pinned per=step slope=10000 freed=true
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void snapshot(std::vector<void*>& kept)
{
    kept.push_back(nullptr);
    check(cudaMallocHost(&kept.back(), 100000));
}

int main()
{
    std::vector<void*> kept;
    for (int step = 1; step <= 200; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 5000));
        check(cudaFree(block));
        if (step % 10 == 0)
            snapshot(kept);
    }
    for (void* const block : kept)
        check(cudaFreeHost(block));
}
