// tests/corpus/programs/trap_reset_after_frees.cu — all is freed, then the device is reset.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    void* device = nullptr;
    void* host = nullptr;
    check(cudaMalloc(&device, 1_MiB));
    check(cudaMallocHost(&host, 1_MiB));
    check(cudaFree(device));
    check(cudaFreeHost(host));
    check(cudaDeviceReset());
}
