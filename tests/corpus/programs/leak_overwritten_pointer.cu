// tests/corpus/programs/leak_overwritten_pointer.cu — one pointer, two allocations: the first has
// no name any more.
// truth: verdict leaks
// truth: leak function=main memory=device blocks=1 bytes=11111 mark=lost
#include "tests/corpus/corpus.hpp"

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 11111)); // MARK lost
    check(cudaMalloc(&block, 22222));
    check(cudaFree(block));
}
