// tests/corpus/programs/leak_growth_that_stopped.cu — a block every third step of the first 360 of
// 1,200 steps, and then no more.
// truth: verdict leaks
// truth: leak function=remember memory=device blocks=120 bytes=120*256KiB class=cache|several|start-up
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void remember()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 256_KiB));
}

int main()
{
    for (int step = 0; step < 1200; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 64_KiB));
        if (step < 360 && step % 3 == 0)
            remember();
        check(cudaFree(block));
    }
}
