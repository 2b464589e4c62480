// tests/corpus/programs/oom_padding_alone.cu — a column of bytes: what was asked for is little,
// what the driver makes of it by its padding is more than the device has.
// run: simulate=64MiB
// truth: verdict clean
// truth: oom function=column kind=unknown requested=400000 requested_at_least=true device=0
// truth: failed function=column calls=1
#include "tests/corpus/corpus.hpp"

bool column()
{
    void* block = nullptr;
    size_t pitch = 0;
    const bool done = cudaMallocPitch(&block, &pitch, 1, 400000) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
    const bool done = column();
    check(cudaFree(block));
    return done ? 98 : 0;
}
