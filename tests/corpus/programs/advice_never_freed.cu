// tests/corpus/programs/advice_never_freed.cu — half of the peak is never freed.
// truth: verdict leaks
// truth: leak function=load_table memory=device blocks=1 bytes=12MiB
// truth: advice function=load_table kind=never-freed saving_bytes=12MiB blocks=1
#include "tests/corpus/corpus.hpp"

void load_table()
{
    void* table = nullptr;
    check(cudaMalloc(&table, 12_MiB));
}

int main()
{
    void* block = nullptr;
    load_table();
    check(cudaMalloc(&block, 12_MiB));
    check(cudaFree(block));
}
