// tests/corpus/programs/leak_many_small.cu — ten thousand small blocks of one line.
// truth: verdict leaks
// truth: leak function=insert memory=device blocks=10000 bytes=10000*64 class=growing
#include "tests/corpus/corpus.hpp"

void insert()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 64));
}

int main()
{
    for (int i = 0; i < 10000; ++i)
        insert();
}
