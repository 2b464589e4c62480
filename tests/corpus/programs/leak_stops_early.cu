// tests/corpus/programs/leak_stops_early.cu — a table grows in the first steps, is never freed, and
// never grows again.
// truth: verdict leaks
// truth: leak function=intern memory=device blocks=12 bytes=12*32KiB class=start-up|cache|several
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void intern()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 32_KiB));
}

int main()
{
    for (int step = 0; step < 150; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 64_KiB));
        check(cudaFree(block));
        if (step < 12)
            intern();
    }
}
