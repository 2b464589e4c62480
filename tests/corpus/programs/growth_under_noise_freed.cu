// tests/corpus/programs/growth_under_noise_freed.cu — a list grows slowly under blocks that come
// and go at random; all is freed at the end.
// truth: verdict clean
// truth: growth function=remember memory=device per=step slope=2KiB freed=true
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void remember(std::vector<void*>& list)
{
    list.push_back(nullptr);
    check(cudaMalloc(&list.back(), 2_KiB));
}

int main()
{
    Noise noise(31);
    std::vector<void*> list;
    std::vector<void*> live;
    for (int step = 0; step < 150; ++step) {
        const Range range("step");
        remember(list);
        for (int i = 0; i < 10; ++i)
            if (live.size() < 5 || (live.size() < 50 && noise.below(2) == 0)) {
                live.push_back(nullptr);
                check(cudaMalloc(&live.back(), 1000 + noise.below(100000)));
            } else {
                check(cudaFree(live.back()));
                live.pop_back();
            }
    }
    list.insert(list.end(), live.begin(), live.end());
    for (void* const block : list)
        check(cudaFree(block));
}
