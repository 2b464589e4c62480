// tests/corpus/programs/frag_direct.cu — stream-ordered memory and arrays are past the pool, plain
// memory is in it.
// truth: verdict clean
// truth: waterfall at=both reserved=4MiB+8MiB allocated=4MiB+8MiB direct=8MiB stuck=0 pending=0 releasable=0
// truth: total peak_device_bytes=12MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    void* plain = nullptr;
    void* ordered = nullptr;
    check(cudaMalloc(&plain, 4_MiB));
    check(cudaMallocAsync(&ordered, 8_MiB, nullptr));
    nvtxMarkA("both");
    check(cudaFreeAsync(ordered, nullptr));
    check(cudaFree(plain));
    check(cudaDeviceSynchronize());
}
