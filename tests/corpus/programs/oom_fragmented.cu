// tests/corpus/programs/oom_fragmented.cu — every second block of a full device is freed: half of
// it is free, in no piece of two.
// run: pool=split set=limit=64MiB
// truth: verdict clean
// truth: oom function=grow kind=fragmented requested=16MiB largest_gap=4MiB device=0 unusable_index=1.0 free_pieces=8
// truth: failed function=grow calls=1
#include <vector>

#include "tests/corpus/corpus.hpp"

// One segment of the pool; the blocks are its pieces.
std::vector<void*> fill()
{
    void* all = nullptr;
    check(cudaMalloc(&all, 64_MiB));
    check(cudaFree(all));
    check(cudaDeviceSynchronize());
    std::vector<void*> blocks(16);
    for (void*& block : blocks)
        check(cudaMalloc(&block, 4_MiB));
    return blocks;
}

bool grow()
{
    void* block = nullptr;
    const bool done = cudaMalloc(&block, 16_MiB) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    std::vector<void*> blocks = fill();
    for (size_t i = 0; i < blocks.size(); i += 2)
        check(cudaFree(blocks[i]));
    check(cudaDeviceSynchronize());
    const bool done = grow();
    for (size_t i = 1; i < blocks.size(); i += 2)
        check(cudaFree(blocks[i]));
    return done ? 98 : 0;
}
