// tests/corpus/programs/oom_impossible_size.cu — a height is computed the wrong way round: 96 rows of
// 4 KiB below zero, which no device has.
// run: simulate=128MiB
// truth: verdict clean
// truth: oom function=crop kind=impossible requested=18446744073709158400 device=0
// truth: failed function=crop calls=1
#include "tests/corpus/corpus.hpp"

cudaError_t crop(void** region, int top, int bottom)
{
    return cudaMalloc(region, static_cast<std::size_t>(bottom - top) * 4096);
}

int main()
{
    void* region = nullptr;
    const cudaError_t done = crop(&region, 224, 128);
    cudaGetLastError();
    return done == cudaErrorMemoryAllocation ? 0 : 98;
}
