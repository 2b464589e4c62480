// tests/corpus/programs/leak_in_noisy_function.cu — one function serves many short blocks and now
// and then one that stays.
// truth: verdict leaks
// truth: leak function=take memory=device blocks=100 bytes=100*16KiB class=growing per=step slope=16KiB
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* take(size_t bytes)
{
    void* block = nullptr;
    check(cudaMalloc(&block, bytes));
    return block;
}

int main()
{
    Noise noise(11);
    for (int step = 0; step < 100; ++step) {
        const Range range("step");
        std::vector<void*> blocks;
        const uint32_t count = 1 + noise.below(12);
        for (uint32_t i = 0; i < count; ++i)
            blocks.push_back(take(16_KiB));
        for (uint32_t i = 1; i < count; ++i) // one of them stays
            check(cudaFree(blocks[i]));
    }
}
