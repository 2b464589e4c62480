// tests/corpus/programs/leak_without_phases.cu — a loop without marks or ranges leaks in each turn.
// truth: verdict leaks
// truth: leak function=turn memory=device blocks=200 bytes=200*2KiB class=growing slope=2KiB per=call
#include "tests/corpus/corpus.hpp"

void turn()
{
    void* block = nullptr;
    void* temporary = nullptr;
    check(cudaMalloc(&block, 2_KiB));
    check(cudaMalloc(&temporary, 30_KiB));
    check(cudaMemset(temporary, 0, 30_KiB));
    check(cudaFree(temporary));
}

int main()
{
    for (int i = 0; i < 200; ++i)
        turn();
}
