// tests/corpus/programs/trap_saw_tooth.cu — memory grows within each epoch and is freed at its end:
// the steps grow, the run does not.
// truth: verdict clean
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    for (int epoch = 0; epoch < 8; ++epoch) {
        const Range range("epoch");
        std::vector<void*> history;
        for (int step = 0; step < 30; ++step) {
            const Range range_of_step("step");
            history.push_back(nullptr);
            check(cudaMalloc(&history.back(), 20_KiB));
        }
        for (void* const block : history)
            check(cudaFree(block));
    }
}
