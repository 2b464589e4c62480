// tests/corpus/programs/trap_freed_in_atexit.cu — a handler of the exit frees, in the order of the
// exit.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

void* table = nullptr;

int main()
{
    check(cudaMalloc(&table, 123456));
    std::atexit([] { check(cudaFree(table)); });
}
