// tests/corpus/programs/frag_cached_whole.cu — all is freed and the pool keeps it: cached, in whole
// segments, nothing is stuck.
// truth: verdict clean
// truth: map at=end allocated=0 largest_gap=8MiB
// truth: map at=peak allocated=8*8MiB
#include "tests/corpus/corpus.hpp"

int main()
{
    void* blocks[8] = {};
    for (void*& block : blocks)
        check(cudaMalloc(&block, 8_MiB));
    for (void* const block : blocks)
        check(cudaFree(block));
    check(cudaDeviceSynchronize());
}
