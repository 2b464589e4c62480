// tests/corpus/programs/advice_released_late.cu — a staging buffer of the loading is freed at the
// end; the peak is in the training.
// truth: verdict clean
// truth: advice function=load kind=released-late saving_bytes=16MiB blocks=1 phase=load
// truth: peak function=load bytes=16MiB blocks=1
// truth: peak function=train bytes=24MiB blocks=1
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* load()
{
    const Range range("load");
    void* staging = nullptr;
    check(cudaMalloc(&staging, 16_MiB));
    check(cudaMemset(staging, 0, 16_MiB));
    return staging;
}

void train()
{
    const Range range("train");
    void* block = nullptr;
    check(cudaMalloc(&block, 24_MiB));
    check(cudaMemset(block, 0, 24_MiB));
    check(cudaFree(block));
}

int main()
{
    void* const staging = load();
    train();
    check(cudaFree(staging));
}
