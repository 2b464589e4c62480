// tests/corpus/programs/leak_slow_in_busy_function.cu — a function with ten blocks in each step
// forgets one in every seventh.
// truth: verdict leaks
// truth: leak function=lease memory=device blocks=30 bytes=30*7KiB class=growing per=step slope=1KiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* lease()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 7_KiB));
    return block;
}

int main()
{
    for (int step = 1; step <= 210; ++step) {
        const Range range("step");
        void* blocks[10] = {};
        for (void*& block : blocks)
            block = lease();
        for (int i = step % 7 == 0 ? 1 : 0; i < 10; ++i)
            check(cudaFree(blocks[i]));
    }
}
