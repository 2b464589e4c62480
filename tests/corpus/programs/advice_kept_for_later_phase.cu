// tests/corpus/programs/advice_kept_for_later_phase.cu — set-up takes the buffers of the
// evaluation, which comes after the training's peak: one is freed in it, one when all is over.
// truth: verdict clean
// truth: advice function=take_scores kind=allocated-early saving_bytes=8MiB blocks=1 phase=setup other_phase=evaluate
// truth: advice function=take_labels kind=allocated-early saving_bytes=4MiB blocks=1 phase=setup other_phase=evaluate
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* take_scores()
{
    void* scores = nullptr;
    check(cudaMalloc(&scores, 8_MiB));
    return scores;
}

void* take_labels()
{
    void* labels = nullptr;
    check(cudaMalloc(&labels, 4_MiB));
    return labels;
}

void train()
{
    const Range range("train");
    void* block = nullptr;
    check(cudaMalloc(&block, 24_MiB));
    check(cudaFree(block));
}

void evaluate(void* scores, void* labels)
{
    const Range range("evaluate");
    check(cudaMemset(labels, 0, 4_MiB));
    check(cudaMemset(scores, 0, 8_MiB));
    check(cudaFree(scores));
}

int main()
{
    void* scores = nullptr;
    void* labels = nullptr;
    {
        const Range range("setup");
        scores = take_scores();
        labels = take_labels();
    }
    train();
    evaluate(scores, labels);
    check(cudaFree(labels));
}
