// tests/corpus/programs/misuse_interior_pointer.cu — a pointer into a block is freed; the block
// itself stays.
// truth: verdict leaks
// truth: leak function=main memory=device blocks=1 bytes=4096
// truth: misuse function=main kind=interior-pointer calls=1
#include "tests/corpus/corpus.hpp"

int main()
{
    char* block = nullptr;
    check(cudaMalloc(&block, 4096));
    const bool done = cudaFree(block + 1024) == cudaSuccess;
    cudaGetLastError();
    return done ? 98 : 0;
}
