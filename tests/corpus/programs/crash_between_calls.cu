// tests/corpus/programs/crash_between_calls.cu — it dies in code of its own, behind a function that
// allocated last.
// run: exit=139
// truth: verdict inconclusive
// truth: leak function=stage kind=in-use-at-crash blocks=2 bytes=2*1MiB rows=2
#include <csignal>

#include "tests/corpus/corpus.hpp"

void stage()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
}

int main()
{
    stage();
    stage();
    std::raise(SIGSEGV);
}
