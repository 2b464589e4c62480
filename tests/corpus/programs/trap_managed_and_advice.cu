// tests/corpus/programs/trap_managed_and_advice.cu — managed memory with advice and a copy, freed.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    float* data = nullptr;
    check(cudaMallocManaged(&data, 1_MiB));
    data[0] = 1;
    check(cudaMemset(data, 0, 1_MiB));
    check(cudaDeviceSynchronize());
    check(cudaFree(data));
}
