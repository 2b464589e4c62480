// tests/corpus/programs/leak_early_return.cu — nothing to do: the function returns before it frees.
// truth: verdict leaks
// truth: leak function=process memory=device blocks=5 bytes=5*1500 class=growing|several|unclear
#include "tests/corpus/corpus.hpp"

void process(int items)
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1500));
    if (items == 0)
        return;
    check(cudaMemset(block, items, 1500));
    check(cudaFree(block));
}

int main()
{
    for (int batch = 0; batch < 20; ++batch)
        process(batch % 4);
}
