// tests/corpus/programs/trap_unfinished_epoch.cu — a history that each epoch empties; the run ends
// in the middle of one, and frees it then.
// truth: verdict clean
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    std::vector<void*> history;
    const auto empty = [&history] {
        for (void* const block : history)
            check(cudaFree(block));
        history.clear();
    };
    for (int epoch = 0; epoch < 6; ++epoch) {
        const Range range("epoch");
        const int steps = epoch == 5 ? 15 : 30;
        for (int step = 0; step < steps; ++step) {
            const Range range_of_step("step");
            history.push_back(nullptr);
            check(cudaMalloc(&history.back(), 24_KiB));
        }
        if (epoch < 5)
            empty();
    }
    empty();
}
