// tests/corpus/programs/crash_all_freed.cu — a crash with nothing in use is no clean run either.
// run: exit=139
// truth: verdict inconclusive
#include <csignal>

#include "tests/corpus/corpus.hpp"

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
    check(cudaFree(block));
    std::raise(SIGSEGV);
}
