// tests/corpus/programs/trap_second_phase_is_larger.cu — a fine-tuning after the training works
// with more memory, steadily: a step up, no growth.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void phase(const char* name, int blocks, int steps)
{
    const Range range(name);
    void* state[16] = {};
    for (int i = 0; i < blocks; ++i)
        check(cudaMalloc(&state[i], 512_KiB));
    for (int step = 0; step < steps; ++step) {
        const Range range_of_step("step");
        void* temporary = nullptr;
        check(cudaMalloc(&temporary, blocks * 128_KiB));
        check(cudaFree(temporary));
    }
    for (int i = 0; i < blocks; ++i)
        check(cudaFree(state[i]));
}

int main()
{
    phase("train", 4, 60);
    phase("tune", 16, 60);
}
