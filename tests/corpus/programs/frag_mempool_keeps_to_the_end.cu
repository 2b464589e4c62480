// tests/corpus/programs/frag_mempool_keeps_to_the_end.cu — all that was taken from the driver's
// default pool is freed, a part of another's is not, and the program ends: nobody asked in between.
// run: simulate=256MiB
// truth: verdict leaks
// truth: leak function=stay blocks=1 bytes=8MiB
// truth: owner function=pool_that_keeps memory=pool blocks=1
// truth: mempool function=pass kept_bytes=160MiB reserved_bytes=160MiB used_bytes=0
// truth: mempool function=stay kept_bytes=24MiB reserved_bytes=32MiB used_bytes=8MiB
#include "tests/corpus/corpus.hpp"

void keeps_everything(cudaMemPool_t pool)
{
    unsigned long long everything = ~0ULL;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
}

cudaMemPool_t pool_that_keeps()
{
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties));
    keeps_everything(pool);
    return pool;
}

void pass()
{
    void* parts[4];
    for (void*& part : parts)
        check(cudaMallocAsync(&part, 40_MiB, nullptr));
    for (void* const part : parts)
        check(cudaFreeAsync(part, nullptr));
}

void stay(cudaMemPool_t pool)
{
    void* block = nullptr;
    check(cudaMallocFromPoolAsync(&block, 8_MiB, pool, nullptr));
}

int main()
{
    cudaMemPool_t standard = nullptr;
    check(cudaDeviceGetDefaultMemPool(&standard, 0));
    keeps_everything(standard);
    pass();
    stay(pool_that_keeps());
    check(cudaDeviceSynchronize());
}
