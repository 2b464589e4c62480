// tests/corpus/programs/damage_overrun.cu — a write of a few bytes after a block's end.
// run: pool=split set=guard=on set=pool_sync=strict
// truth: verdict clean
// truth: damage kind=overrun
#include "tests/corpus/corpus.hpp"

int main()
{
    char* block = nullptr;
    check(cudaMalloc(&block, 1000));
    check(cudaMemset(block, 1, 1004));
    check(cudaFree(block));
}
