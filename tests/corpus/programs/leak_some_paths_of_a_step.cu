// tests/corpus/programs/leak_some_paths_of_a_step.cu — one branch of a step, taken at random,
// forgets its block.
// truth: verdict leaks
// truth: leak function=handle memory=device blocks=56 bytes=56*8000 class=growing per=request
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int forgotten = 0;

void handle(bool odd_case)
{
    void* block = nullptr;
    check(cudaMalloc(&block, 8000));
    if (odd_case) {
        ++forgotten;
        return;
    }
    check(cudaFree(block));
}

int main()
{
    Noise noise(3);
    for (int request = 0; request < 200; ++request) {
        const Range range("request");
        handle(noise.below(4) == 0);
    }
    return forgotten == 56 ? 0 : 98;
}
