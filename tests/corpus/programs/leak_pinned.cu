// tests/corpus/programs/leak_pinned.cu — pinned memory of both of the runtime's functions.
// truth: verdict leaks
// truth: leak function=stage_in memory=pinned api=cudaMallocHost blocks=1 bytes=1MiB
// truth: leak function=stage_out memory=pinned api=cudaHostAlloc blocks=2 bytes=2*4KiB
#include "tests/corpus/corpus.hpp"

void* stage_in()
{
    void* buffer = nullptr;
    check(cudaMallocHost(&buffer, 1_MiB));
    return buffer;
}

void stage_out()
{
    void* buffers[3] = {};
    for (void*& buffer : buffers)
        check(cudaHostAlloc(&buffer, 4_KiB, cudaHostAllocMapped));
    check(cudaFreeHost(buffers[1]));
}

int main()
{
    check(cudaFreeHost(stage_in()));
    stage_in();
    stage_out();
}
