// tests/corpus/programs/trap_freed_by_other_api.cu — the runtime's memory is freed by the driver's
// function, and the other way round.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    void* of_runtime = nullptr;
    CUdeviceptr of_driver = 0;
    void* host = nullptr;
    check(cudaMalloc(&of_runtime, 70000));
    check(cuMemAlloc(&of_driver, 70000));
    check(cudaHostAlloc(&host, 4096, cudaHostAllocDefault));
    check(cuMemFree(reinterpret_cast<CUdeviceptr>(of_runtime)));
    check(cudaFree(reinterpret_cast<void*>(of_driver)));
    check(cuMemFreeHost(host));
}
