// tests/corpus/programs/objects_pools_per_step.cu — a pool of its own is made for each request and
// never destroyed; what it gave out is freed.
// run: simulate=4GiB
// truth: verdict clean
// truth: owner function=serve memory=pool blocks=40
// truth: object function=serve object=pool made=40 ended=0 alive=40 class=growing per=call
// truth: object function=main object=stream made=1 ended=1 alive=0
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void serve(cudaStream_t stream)
{
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    void* block = nullptr;
    check(cudaMemPoolCreate(&pool, &properties));
    check(cudaMallocFromPoolAsync(&block, 64_KiB, pool, stream));
    check(cudaFreeAsync(block, stream));
}

int main()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    for (int request = 0; request < 40; ++request)
        serve(stream);
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
}
