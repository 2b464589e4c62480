// tests/corpus/programs/trap_loads_then_computes.cu — weights are loaded layer by layer, beside
// temporaries; then the work goes on without an allocation, and the end frees them.
// truth: verdict clean
#include <chrono>
#include <thread>
#include <vector>

#include "tests/corpus/corpus.hpp"

int main()
{
    std::vector<void*> weights;
    for (int layer = 0; layer < 60; ++layer) {
        void* staging = nullptr;
        check(cudaMalloc(&staging, 1_MiB));
        weights.push_back(nullptr);
        check(cudaMalloc(&weights.back(), 256_KiB));
        check(cudaFree(staging));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    for (void* const block : weights)
        check(cudaFree(block));
}
