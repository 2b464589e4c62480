// tests/corpus/programs/trap_bounded_cache.cu — buffers by size, made when first needed, freed at
// the end: no leak and no growth.
// truth: verdict clean
#include <map>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    std::map<uint32_t, void*> cache;
    Noise noise(21);
    for (int step = 0; step < 300; ++step) {
        const Range range("step");
        void*& block = cache[noise.below(10)];
        if (block == nullptr)
            check(cudaMalloc(&block, 32_KiB));
        check(cudaMemset(block, 0, 32_KiB));
    }
    for (const auto& [size, block] : cache)
        check(cudaFree(block));
}
