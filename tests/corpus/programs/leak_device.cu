// tests/corpus/programs/leak_device.cu — one of two blocks is forgotten.
// truth: verdict leaks
// truth: leak function=load_table kind=leaked-at-exit memory=device api=cudaMalloc blocks=1 bytes=3000
#include "tests/corpus/corpus.hpp"

void load_table()
{
    char* table = nullptr;
    check(cudaMalloc(&table, 3000));
    check(cudaMemset(table, 0, 3000));
}

int main()
{
    char* scratch = nullptr;
    check(cudaMalloc(&scratch, 5000));
    load_table();
    check(cudaFree(scratch));
}
