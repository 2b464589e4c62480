// tests/corpus/programs/frag_gaps.cu — free pieces of 3 MiB between blocks, and 4 MiB behind them:
// what a request of 6 MiB could use of it.
// run: pool=split
// truth: verdict clean
// truth: waterfall at=holes reserved=64MiB stuck=34MiB allocated=30MiB
// truth: waterfall at=end reserved=64MiB releasable=64MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    void* all = nullptr;
    void* blocks[20] = {};
    check(cudaMalloc(&all, 64_MiB));
    check(cudaFree(all));
    check(cudaDeviceSynchronize());
    for (void*& block : blocks)
        check(cudaMalloc(&block, 3_MiB));
    for (int i = 0; i < 20; i += 2)
        check(cudaFree(blocks[i]));
    check(cudaDeviceSynchronize());
    nvtxMarkA("holes");
    for (int i = 1; i < 20; i += 2)
        check(cudaFree(blocks[i]));
    check(cudaDeviceSynchronize());
}
