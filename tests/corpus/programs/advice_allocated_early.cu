// tests/corpus/programs/advice_allocated_early.cu — the evaluation's buffer is taken before the
// training, whose peak it is a part of.
// truth: verdict clean
// truth: advice function=main kind=allocated-early saving_bytes=8MiB blocks=1 phase=run other_phase=run/evaluate
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void train()
{
    const Range range("train");
    void* block = nullptr;
    check(cudaMalloc(&block, 24_MiB));
    check(cudaFree(block));
}

void evaluate(void* buffer)
{
    const Range range("evaluate");
    check(cudaMemset(buffer, 0, 8_MiB));
    check(cudaFree(buffer));
}

int main()
{
    const Range range("run");
    void* buffer = nullptr;
    check(cudaMalloc(&buffer, 8_MiB));
    train();
    evaluate(buffer);
}
