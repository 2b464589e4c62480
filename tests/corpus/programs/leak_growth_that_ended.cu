// tests/corpus/programs/leak_growth_that_ended.cu — the first two thirds of the run leak in each
// step, the last third does not: it grew, and grows no more.
// truth: verdict leaks
// truth: leak function=warn memory=device blocks=80 bytes=80*4KiB class=unclear|several|cache|start-up
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void warn()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 4_KiB));
}

int main()
{
    for (int step = 0; step < 240; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 64_KiB));
        check(cudaFree(block));
        if (step < 160 && step % 2 == 0)
            warn();
    }
}
