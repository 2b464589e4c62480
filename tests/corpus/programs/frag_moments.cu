// tests/corpus/programs/frag_moments.cu — one segment, moment by moment: cached, in use, freed and
// pending, free beside blocks, empty.
// run: pool=split
// truth: verdict clean
// truth: waterfall at=cached reserved=64MiB releasable=64MiB stuck=0 pending=0 allocated=0
// truth: waterfall at=half reserved=64MiB releasable=0 stuck=32MiB pending=0 allocated=32MiB internal=0 direct=0
// truth: waterfall at=freed reserved=64MiB releasable=0 stuck=32MiB pending=16MiB allocated=16MiB
// truth: waterfall at=safe reserved=64MiB releasable=0 stuck=48MiB pending=0 allocated=16MiB
// truth: waterfall at=empty reserved=64MiB releasable=64MiB stuck=0 pending=0 allocated=0
// truth: waterfall at=end reserved=64MiB releasable=64MiB allocated=0
// truth: waterfall at=peak reserved=64MiB allocated=64MiB stuck=0
// truth: gaps at=end bytes=64MiB pieces=1 largest=64MiB largest_request=64MiB unusable_for_largest_request=0.0
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    void* all = nullptr;
    void* blocks[4] = {};
    check(cudaMalloc(&all, 64_MiB));
    check(cudaFree(all));
    check(cudaDeviceSynchronize());
    nvtxMarkA("cached");
    for (void*& block : blocks)
        check(cudaMalloc(&block, 8_MiB));
    nvtxMarkA("half");
    check(cudaFree(blocks[0]));
    check(cudaFree(blocks[2]));
    nvtxMarkA("freed");
    check(cudaDeviceSynchronize());
    nvtxMarkA("safe");
    check(cudaFree(blocks[1]));
    check(cudaFree(blocks[3]));
    check(cudaDeviceSynchronize());
    nvtxMarkA("empty");
}
