// tests/corpus/programs/crash_killed.cu — the program kills itself with SIGKILL between two steps.
// run: exit=137
// truth: verdict inconclusive
// truth: leak function=step kind=in-use-at-crash memory=device blocks=20 bytes=20*1KiB class=growing per=step slope=1KiB
#include <csignal>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void step()
{
    const Range range("step");
    void* block = nullptr;
    check(cudaMalloc(&block, 1_KiB));
}

int main()
{
    for (int i = 0; i < 20; ++i)
        step();
    std::raise(SIGKILL);
}
