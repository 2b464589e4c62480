// tests/corpus/programs/frag_checkerboard.cu — half of a segment is free at the end, in pieces of 3
// MiB beside blocks: no memory ran out.
// run: pool=split
// truth: verdict leaks
// truth: leak function=main memory=device blocks=10 bytes=10*3MiB
// truth: map at=end largest_gap=4MiB allocated=30MiB
#include "tests/corpus/corpus.hpp"

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
}
