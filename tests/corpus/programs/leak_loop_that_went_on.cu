// tests/corpus/programs/leak_loop_that_went_on.cu — without any range: the first 700 of 1,000 turns
// leak, the others allocate as before and leak nothing.
// truth: verdict leaks
// truth: leak function=remember memory=device blocks=350 bytes=350*16KiB class=cache|several|start-up
#include "tests/corpus/corpus.hpp"

void remember()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 16_KiB));
}

int main()
{
    for (int turn = 0; turn < 1000; ++turn) {
        void* block = nullptr;
        check(cudaMalloc(&block, 64_KiB));
        if (turn < 700 && turn % 2 == 0)
            remember();
        check(cudaFree(block));
    }
}
