// tests/corpus/programs/oom_mempool_maximum.cu — a pool of its own has a maximum; the device is
// nearly empty.
// run: simulate=1GiB
// truth: verdict clean
// truth: oom function=wants kind=limited requested=96MiB
// truth: failed function=wants result=CUDA_ERROR_OUT_OF_MEMORY calls=1
#include "tests/corpus/corpus.hpp"

cudaMemPool_t small_pool()
{
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
#if CUDART_VERSION >= 12030
    properties.maxSize = 64_MiB;
#else
    needs_cuda("12.3"); // older headers have no such member
#endif
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties));
    return pool;
}

void wants(cudaMemPool_t pool)
{
    void* block = nullptr;
    if (cudaMallocFromPoolAsync(&block, 96_MiB, pool, nullptr) != cudaErrorMemoryAllocation)
        std::_Exit(98);
    cudaGetLastError();
}

int main()
{
    void* small = nullptr;
    check(cudaMalloc(&small, 100));
    const cudaMemPool_t pool = small_pool();
    wants(pool);
    check(cudaMemPoolDestroy(pool));
    check(cudaFree(small));
}
