// tests/corpus/programs/trap_cache_fills_slowly.cu — a cache that takes more than half of the run
// to fill; then it is reused. No growth.
// truth: verdict clean
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    std::vector<void*> cache(60);
    for (int step = 0; step < 200; ++step) {
        const Range range("step");
        const size_t wanted = step < 120 ? step / 2 : (step * 7) % 60;
        void*& block = cache[wanted];
        if (block == nullptr)
            check(cudaMalloc(&block, 16_KiB));
        check(cudaMemset(block, 0, 16_KiB));
    }
    for (void* const block : cache)
        check(cudaFree(block));
}
