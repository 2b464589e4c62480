// tests/corpus/programs/leak_cache_of_shapes.cu — a work space for each of 100 shapes, met at
// random in the first half of the run and all known in the second; nobody frees them.
// truth: verdict leaks
// truth: leak function=workspace_for memory=device blocks=100 class=cache
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void workspace_for(int shape)
{
    static void* cache[100] = {};
    if (!cache[shape])
        check(cudaMalloc(&cache[shape], (1 + shape) * 4_KiB));
}

int main()
{
    constexpr int kSteps = 2000;
    Noise noise(7);
    for (int step = 0; step < kSteps; ++step) {
        const Range range("step");
        void* block = nullptr;
        check(cudaMalloc(&block, 64_KiB));
        const bool is_new = step < kSteps / 2 && step % 10 == 0;
        const int newest = step < kSteps / 2 ? step / 10 : 99;
        workspace_for(is_new ? newest : static_cast<int>(noise.below(newest + 1)));
        check(cudaFree(block));
    }
}
