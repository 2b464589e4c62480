// tests/corpus/programs/trap_grow_and_swap.cu — a buffer that is made larger properly: new one,
// copy, free of the old one.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    char* data = nullptr;
    size_t bytes = 0;
    for (size_t wanted = 1000; wanted < 4000000; wanted += wanted / 2) {
        char* larger = nullptr;
        check(cudaMalloc(&larger, wanted));
        if (bytes > 0)
            check(cudaMemcpy(larger, data, bytes, cudaMemcpyDeviceToDevice));
        check(cudaFree(data));
        data = larger;
        bytes = wanted;
    }
    check(cudaFree(data));
}
