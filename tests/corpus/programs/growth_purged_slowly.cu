// tests/corpus/programs/growth_purged_slowly.cu — a list grows in each turn of a loop, and what
// frees it at the end takes longer than the work did.
// truth: verdict clean
// truth: growth function=keep memory=device per=call slope=64KiB freed=true
#include <chrono>
#include <thread>
#include <vector>

#include "tests/corpus/corpus.hpp"

void keep(std::vector<void*>& kept)
{
    kept.push_back(nullptr);
    check(cudaMalloc(&kept.back(), 64_KiB));
}

int main()
{
    std::vector<void*> kept;
    for (int turn = 0; turn < 100; ++turn) {
        void* temporary = nullptr;
        check(cudaMalloc(&temporary, 1_MiB));
        check(cudaFree(temporary));
        keep(kept);
    }
    for (void* const block : kept) {
        check(cudaFree(block));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}
