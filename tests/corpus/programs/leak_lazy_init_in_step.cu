// tests/corpus/programs/leak_lazy_init_in_step.cu — made in the first step, used in all, never
// freed: start-up, though inside the loop.
// truth: verdict leaks
// truth: leak function=handles memory=device blocks=3 bytes=3*4MiB class=start-up|several
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void** handles()
{
    static void* made[3] = {};
    for (void*& block : made)
        if (block == nullptr)
            check(cudaMalloc(&block, 4_MiB));
    return made;
}

int main()
{
    for (int step = 0; step < 60; ++step) {
        const Range range("step");
        check(cudaMemset(handles()[step % 3], 0, 1_MiB));
        void* temporary = nullptr;
        check(cudaMalloc(&temporary, 100_KiB));
        check(cudaFree(temporary));
    }
}
