// tests/corpus/programs/leak_two_paths.cu — one function, two call paths, both leak: two rows.
// truth: verdict leaks
// truth: leak function=make_buffer through=encode memory=device blocks=2 bytes=2*1KiB
// truth: leak function=make_buffer through=decode memory=device blocks=3 bytes=3*4KiB
#include "tests/corpus/corpus.hpp"

__attribute__((noinline)) void* make_buffer(size_t bytes)
{
    void* block = nullptr;
    check(cudaMalloc(&block, bytes));
    return block;
}

void encode()
{
    check(cudaMemset(make_buffer(1_KiB), 0, 1_KiB));
}

void decode()
{
    check(cudaMemset(make_buffer(4_KiB), 0, 4_KiB));
}

int main()
{
    for (int i = 0; i < 2; ++i)
        encode();
    for (int i = 0; i < 3; ++i)
        decode();
}
