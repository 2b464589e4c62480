// tests/corpus/programs/leak_error_path.cu — the second of two allocations fails; the first is
// forgotten in the error's path.
// truth: verdict leaks
// truth: leak function=open_model memory=device blocks=1 bytes=1MiB
// truth: oom function=open_model kind=lacking requested=900MiB
// truth: failed function=open_model calls=1 result=CUDA_ERROR_OUT_OF_MEMORY
#include "tests/corpus/corpus.hpp"

bool open_model()
{
    void* weights = nullptr;
    void* optimizer = nullptr;
    check(cudaMalloc(&weights, 1_MiB));
    if (cudaMalloc(&optimizer, 900_MiB) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    check(cudaFree(optimizer));
    check(cudaFree(weights));
    return true;
}

int main()
{
    return open_model() ? 98 : 0;
}
