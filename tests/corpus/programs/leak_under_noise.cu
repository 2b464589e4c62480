// tests/corpus/programs/leak_under_noise.cu — many blocks come and go at random; of one function a
// few stay in each step.
// truth: verdict leaks
// truth: leak function=remember memory=device blocks=300 bytes=300*1KiB class=growing per=step slope=3KiB
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void remember()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_KiB));
}

void churn(Noise& noise, std::vector<void*>& live)
{
    for (int i = 0; i < 20; ++i) {
        if (live.size() < 5 || (live.size() < 40 && noise.below(2) == 0)) {
            void* block = nullptr;
            check(cudaMalloc(&block, 1_KiB * (1 + noise.below(64))));
            live.push_back(block);
        } else {
            const size_t at = noise.below(static_cast<uint32_t>(live.size()));
            check(cudaFree(live[at]));
            live[at] = live.back();
            live.pop_back();
        }
    }
}

int main()
{
    Noise noise(7);
    std::vector<void*> live;
    for (int step = 0; step < 100; ++step) {
        const Range range("step");
        churn(noise, live);
        for (int i = 0; i < 3; ++i)
            remember();
    }
    for (void* const block : live)
        check(cudaFree(block));
}
