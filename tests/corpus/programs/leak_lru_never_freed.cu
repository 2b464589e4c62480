// tests/corpus/programs/leak_lru_never_freed.cu — a cache that evicts: it allocates to the end and
// stays as large as it is.
// truth: verdict leaks
// truth: leak function=Lru::get memory=device blocks=6 bytes=6*100KiB class=cache
#include <algorithm>
#include <deque>
#include <utility>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

struct Lru {
    std::deque<std::pair<int, void*>> blocks; // the one used last is in front

    void get(int key)
    {
        const auto found = std::find_if(blocks.begin(), blocks.end(),
                                        [&](const auto& entry) { return entry.first == key; });
        if (found != blocks.end()) {
            const auto entry = *found;
            blocks.erase(found);
            blocks.push_front(entry);
            return;
        }
        if (blocks.size() == 6) {
            check(cudaFree(blocks.back().second));
            blocks.pop_back();
        }
        void* block = nullptr;
        check(cudaMalloc(&block, 100_KiB));
        blocks.emplace_front(key, block);
    }
};

int main()
{
    auto* const cache = new Lru;
    Noise noise(9);
    for (int step = 0; step < 300; ++step) {
        const Range range("step");
        cache->get(static_cast<int>(noise.below(12)));
    }
}
