// tests/corpus/programs/leak_per_step.cu — a small block in each step, kept in a history that
// nobody empties.
// truth: verdict leaks
// truth: leak function=log_loss memory=device blocks=80 bytes=80*4KiB class=growing per=step slope=4KiB
// truth: leak function=load_weights memory=device blocks=1 bytes=8MiB class=start-up|once
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* load_weights()
{
    void* weights = nullptr;
    check(cudaMalloc(&weights, 8_MiB));
    return weights;
}

void log_loss(std::vector<void*>& history)
{
    void* loss = nullptr;
    check(cudaMalloc(&loss, 4_KiB));
    history.push_back(loss);
}

int main()
{
    void* const weights = load_weights();
    std::vector<void*> history;
    for (int step = 0; step < 80; ++step) {
        const Range range("step");
        void* activations = nullptr;
        check(cudaMalloc(&activations, 1_MiB));
        check(cudaMemcpy(activations, weights, 1_MiB, cudaMemcpyDeviceToDevice));
        log_loss(history);
        check(cudaFree(activations));
    }
}
