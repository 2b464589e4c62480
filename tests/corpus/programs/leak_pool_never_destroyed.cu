// tests/corpus/programs/leak_pool_never_destroyed.cu — a pool of the program's own and a block of
// it, both left.
// truth: verdict leaks
// truth: leak function=take memory=async api=cudaMallocFromPoolAsync blocks=1 bytes=1MiB
// truth: owner function=make_pool memory=pool blocks=1
#include "tests/corpus/corpus.hpp"

cudaMemPool_t make_pool()
{
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties));
    return pool;
}

void* take(cudaMemPool_t pool)
{
    void* block = nullptr;
    check(cudaMallocFromPoolAsync(&block, 1_MiB, pool, nullptr));
    return block;
}

int main()
{
    cudaMemPool_t pools[] = {make_pool(), make_pool()};
    check(cudaFreeAsync(take(pools[0]), nullptr));
    take(pools[1]);
    check(cudaDeviceSynchronize());
    check(cudaMemPoolDestroy(pools[0]));
}
