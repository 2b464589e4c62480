// tests/corpus/programs/oom_fragmented_by_one_block.cu — one small block in the middle of all
// memory.
// run: pool=split set=limit=64MiB
// truth: verdict leaks
// truth: leak function=pin_the_middle memory=device blocks=1 bytes=2MiB
// truth: oom function=grow kind=fragmented requested=48MiB largest_gap=32MiB device=0
// truth: failed function=grow calls=1
#include "tests/corpus/corpus.hpp"

void pin_the_middle()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 2_MiB));
}

bool grow()
{
    void* block = nullptr;
    const bool done = cudaMalloc(&block, 48_MiB) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* all = nullptr;
    void* front = nullptr;
    check(cudaMalloc(&all, 64_MiB));
    check(cudaFree(all));
    check(cudaDeviceSynchronize());
    check(cudaMalloc(&front, 30_MiB));
    pin_the_middle();
    check(cudaFree(front));
    check(cudaDeviceSynchronize());
    return grow() ? 98 : 0;
}
