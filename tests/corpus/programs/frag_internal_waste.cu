// tests/corpus/programs/frag_internal_waste.cu — three small blocks, each rounded up by the pool to
// the next 512 bytes.
// run: pool=split
// truth: verdict clean
// truth: waterfall at=peak requested=3*1000 internal=3*24 allocated=3*1024 reserved=2MiB stuck=2044*1024+1024 direct=0
#include "tests/corpus/corpus.hpp"

int main()
{
    void* blocks[3] = {};
    for (void*& block : blocks)
        check(cudaMalloc(&block, 1000));
    for (void* const block : blocks)
        check(cudaFree(block));
}
