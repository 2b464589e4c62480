// tests/corpus/programs/leak_per_epoch.cu — the leak is once in an epoch, whose steps are clean.
// truth: verdict leaks
// truth: leak function=save_checkpoint memory=pinned blocks=10 bytes=10*256KiB class=growing per=epoch slope=256KiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void save_checkpoint()
{
    void* copy = nullptr;
    check(cudaMallocHost(&copy, 256_KiB));
}

void step()
{
    const Range range("step");
    void* block = nullptr;
    check(cudaMalloc(&block, 64_KiB));
    check(cudaFree(block));
}

int main()
{
    for (int epoch = 0; epoch < 10; ++epoch) {
        const Range range("epoch");
        for (int i = 0; i < 20; ++i)
            step();
        save_checkpoint();
    }
}
