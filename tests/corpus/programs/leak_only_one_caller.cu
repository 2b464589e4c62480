// tests/corpus/programs/leak_only_one_caller.cu — a helper has two callers: one frees what it gets.
// truth: verdict leaks
// truth: leak function=make_block through=careless memory=device blocks=4 bytes=4*3000
#include "tests/corpus/corpus.hpp"

void* make_block()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 3000));
    return block;
}

void careful()
{
    check(cudaFree(make_block()));
}

void careless()
{
    check(cudaMemset(make_block(), 0, 3000));
}

int main()
{
    for (int i = 0; i < 4; ++i) {
        careful();
        careless();
    }
}
