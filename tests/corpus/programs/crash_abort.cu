// tests/corpus/programs/crash_abort.cu — abort with memory in use: no leak is claimed, and nothing
// is called clean.
// run: exit=134
// truth: verdict inconclusive
// truth: leak function=load kind=in-use-at-crash memory=device blocks=2 bytes=2*5000 rows=2 fingerprints=1
#include "tests/corpus/corpus.hpp"

void load()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 5000));
}

int main()
{
    load();
    load();
    std::abort();
}
