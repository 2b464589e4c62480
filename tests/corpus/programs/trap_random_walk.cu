// tests/corpus/programs/trap_random_walk.cu — a bounded number of blocks, up and down at random:
// noise, no growth.
// truth: verdict clean
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    Noise noise(17);
    std::vector<void*> live;
    for (int step = 0; step < 400; ++step) {
        const Range range("step");
        for (int i = 0; i < 3; ++i)
            if (live.size() < 4 || (live.size() < 30 && noise.below(2) == 0)) {
                live.push_back(nullptr);
                check(cudaMalloc(&live.back(), 1000 + noise.below(50000)));
            } else {
                check(cudaFree(live.back()));
                live.pop_back();
            }
    }
    for (void* const block : live)
        check(cudaFree(block));
}
