// tests/corpus/programs/growth_doubles_each_epoch.cu — a staging buffer is made twice as large at
// each epoch: it grows, ever faster, though there is one block.
// truth: verdict leaks
// truth: leak function=reserve memory=pinned blocks=1 bytes=128MiB class=growing per=epoch
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* reserve(void* before, std::size_t bytes)
{
    void* larger = nullptr;
    check(cudaMallocHost(&larger, bytes));
    check(cudaFreeHost(before));
    return larger;
}

int main()
{
    void* buffer = nullptr;
    for (int epoch = 0; epoch < 12; ++epoch) {
        const Range range("epoch");
        buffer = reserve(buffer, 64_KiB << epoch);
    }
}
