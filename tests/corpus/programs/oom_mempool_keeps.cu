// tests/corpus/programs/oom_mempool_keeps.cu — the driver's default pool keeps what was freed into
// it, and another library wants that memory.
// run: simulate=256MiB
// truth: verdict clean
// truth: oom function=wants kind=lacking requested=160MiB short_by=64MiB
// truth: failed function=wants result=CUDA_ERROR_OUT_OF_MEMORY calls=1
#include "tests/corpus/corpus.hpp"

void stage()
{
    void* parts[4];
    for (void*& part : parts)
        check(cudaMallocAsync(&part, 40_MiB, nullptr));
    for (void* const part : parts)
        check(cudaFreeAsync(part, nullptr));
    check(cudaDeviceSynchronize());
}

void wants()
{
    void* block = nullptr;
    if (cudaMalloc(&block, 160_MiB) != cudaErrorMemoryAllocation)
        std::_Exit(98);
    cudaGetLastError();
}

int main()
{
    cudaMemPool_t pool = nullptr;
    unsigned long long everything = ~0ULL;
    check(cudaDeviceGetDefaultMemPool(&pool, 0));
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
    stage();
    wants();
}
