// tests/corpus/programs/leak_every_10th_step.cu — every tenth step writes a summary that stays.
// truth: verdict leaks
// truth: leak function=summary memory=device blocks=20 bytes=20*100000 class=growing per=step slope=10000
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void summary()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 100000));
}

int main()
{
    for (int step = 1; step <= 200; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 5000));
        check(cudaFree(block));
        if (step % 10 == 0)
            summary();
    }
}
