// tests/corpus/programs/peak_by_stack.cu — what the peak is made of: weights all the time, three
// activations at once; what comes later is less.
// truth: verdict clean
// truth: waterfall at=peak requested=8MiB+3*4MiB allocated=8MiB+3*4MiB
// truth: peak function=load_weights blocks=1 bytes=8MiB phase=load
// truth: peak function=forward blocks=3 bytes=3*4MiB phase=train
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* load_weights()
{
    const Range range("load");
    void* weights = nullptr;
    check(cudaMalloc(&weights, 8_MiB));
    return weights;
}

void forward(int layers)
{
    void* activations[3] = {};
    for (int layer = 0; layer < layers; ++layer)
        check(cudaMalloc(&activations[layer], 4_MiB));
    for (int layer = 0; layer < layers; ++layer)
        check(cudaFree(activations[layer]));
}

int main()
{
    void* const weights = load_weights();
    {
        const Range range("train");
        for (int step = 0; step < 10; ++step)
            forward(1 + step % 3);
    }
    forward(2);
    check(cudaFree(weights));
}
