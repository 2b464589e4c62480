// tests/corpus/programs/leak_cache_never_freed.cu — a bounded cache, reused in every step, that
// nobody empties at the end.
// truth: verdict leaks
// truth: leak function=Cache::get memory=device blocks=8 bytes=8*64KiB class=cache|start-up|several
#include <map>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

struct Cache {
    std::map<int, void*> blocks;

    void* get(int key)
    {
        void*& block = blocks[key];
        if (block == nullptr)
            check(cudaMalloc(&block, 64_KiB));
        return block;
    }
};

int main()
{
    auto* const cache = new Cache;
    Noise noise(5);
    for (int step = 0; step < 200; ++step) {
        const Range range("step");
        check(cudaMemset(cache->get(static_cast<int>(noise.below(8))), 0, 64_KiB));
    }
}
