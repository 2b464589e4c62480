// tests/corpus/programs/leak_quick_exit.cu — the program ends by _exit in the middle of its work:
// an end, no crash.
// run: exit=7
// truth: verdict leaks
// truth: leak function=work kind=leaked-at-exit memory=device blocks=1 bytes=9000
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

void work()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 9000));
    _exit(7);
}

int main()
{
    work();
}
