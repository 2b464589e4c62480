// tests/corpus/programs/trap_retry_succeeds.cu — what the pool keeps is given back when a larger
// block is wanted: memory did not run out.
// run: set=limit=64MiB
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    void* block = nullptr;
    for (size_t mebibytes = 10; mebibytes <= 50; mebibytes += 10) {
        check(cudaMalloc(&block, mebibytes << 20));
        check(cudaFree(block));
    }
}
