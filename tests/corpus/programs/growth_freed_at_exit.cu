// tests/corpus/programs/growth_freed_at_exit.cu — a history grows by a block in each step and is
// freed at the end: no leak, and growth all the same.
// truth: verdict clean
// truth: growth function=log_metric memory=device per=step slope=8KiB freed=true
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void log_metric(std::vector<void*>& history)
{
    history.push_back(nullptr);
    check(cudaMalloc(&history.back(), 8_KiB));
}

int main()
{
    std::vector<void*> history;
    for (int step = 0; step < 120; ++step) {
        const Range range("step");
        log_metric(history);
        void* temporary = nullptr;
        check(cudaMalloc(&temporary, 1_MiB));
        check(cudaFree(temporary));
    }
    for (void* const block : history)
        check(cudaFree(block));
}
