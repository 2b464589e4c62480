// tests/corpus/programs/leak_per_validation.cu — each epoch has 20 training steps and one
// validation, which leaks twice.
// truth: verdict leaks
// truth: leak function=validate memory=device blocks=24 bytes=24*50KiB class=growing per=validation|epoch slope=100KiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void validate()
{
    const Range range("validation");
    for (int batch = 0; batch < 2; ++batch) {
        void* block = nullptr;
        check(cudaMalloc(&block, 50_KiB));
    }
}

int main()
{
    for (int epoch = 0; epoch < 12; ++epoch) {
        const Range range("epoch");
        for (int step = 0; step < 20; ++step) {
            const Range range_of_step("train");
            void* block = nullptr;
            check(cudaMalloc(&block, 200_KiB));
            check(cudaFree(block));
        }
        validate();
    }
}
