// tests/corpus/programs/leak_starts_late.cu — the first half of the run is clean; then a feature is
// turned on that leaks.
// truth: verdict leaks
// truth: leak function=trace memory=device blocks=60 bytes=60*32KiB class=growing per=step
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void trace()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 32_KiB));
}

int main()
{
    for (int step = 0; step < 120; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 64_KiB));
        check(cudaFree(block));
        if (step >= 60)
            trace();
    }
}
