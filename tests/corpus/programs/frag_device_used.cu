// tests/corpus/programs/frag_device_used.cu — what the driver counts: the program's own memory and
// nothing else, then what a pool of the driver keeps.
// truth: verdict clean
// truth: waterfall at=plain device_used=64MiB unattributed=0 reserved=64MiB
// truth: waterfall at=ordered device_used=96MiB unattributed=31MiB reserved=64MiB+1MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    void* plain = nullptr;
    void* ordered = nullptr;
    size_t free = 0;
    size_t total = 0;
    check(cudaMalloc(&plain, 64_MiB));
    nvtxMarkA("plain");
    check(cudaMallocAsync(&ordered, 1_MiB, nullptr)); // the simulated driver's pool takes 32 MiB
    check(cudaMemGetInfo(&free, &total));             // now the driver is asked
    nvtxMarkA("ordered");
    check(cudaFreeAsync(ordered, nullptr));
    check(cudaFree(plain));
    check(cudaDeviceSynchronize());
}
