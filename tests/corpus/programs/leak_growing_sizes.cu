// tests/corpus/programs/leak_growing_sizes.cu — each step's block is larger than the one before:
// the growth itself grows.
// truth: verdict leaks
// truth: leak function=append memory=device blocks=50 bytes=1275*1KiB class=growing per=step
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void append(size_t bytes)
{
    void* block = nullptr;
    check(cudaMalloc(&block, bytes));
}

int main()
{
    for (int step = 1; step <= 50; ++step) {
        const Range range("step");
        append(step * 1_KiB);
    }
}
