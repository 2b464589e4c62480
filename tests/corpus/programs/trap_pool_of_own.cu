// tests/corpus/programs/trap_pool_of_own.cu — a pool of the program's own, trimmed and destroyed
// when all is freed.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties));
    for (int i = 0; i < 30; ++i) {
        void* block = nullptr;
        check(cudaMallocFromPoolAsync(&block, 300000, pool, nullptr));
        check(cudaFreeAsync(block, nullptr));
    }
    check(cudaDeviceSynchronize());
    check(cudaMemPoolTrimTo(pool, 0));
    check(cudaMemPoolDestroy(pool));
}
