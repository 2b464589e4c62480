// tests/corpus/programs/trap_lru.cu — a cache that evicts the oldest, and allocates to the end.
// truth: verdict clean
#include <deque>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    std::deque<void*> cache;
    for (int step = 0; step < 300; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 48_KiB));
        cache.push_back(block);
        if (cache.size() > 16) {
            check(cudaFree(cache.front()));
            cache.pop_front();
        }
    }
    for (void* const block : cache)
        check(cudaFree(block));
}
