// tests/corpus/programs/leak_in_seven_turns.cu — a short loop keeps a block in each of its turns.
// truth: verdict leaks
// truth: leak function=keep blocks=7 bytes=7*3MiB class=growing per=call slope=3MiB
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void keep()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 3_MiB));
}

int main()
{
    for (int turn = 0; turn < 7; ++turn) {
        void* temporary = nullptr;
        check(cudaMalloc(&temporary, 1_MiB));
        keep();
        check(cudaFree(temporary));
    }
}
