// tests/corpus/programs/leak_static_init.cu — a global object allocates before main; it has no
// destructor.
// truth: verdict leaks
// truth: leak function=Lookup::Lookup kind=leaked-at-exit memory=device blocks=1 bytes=256KiB class=once|start-up
#include "tests/corpus/corpus.hpp"

struct Lookup {
    Lookup() { check(cudaMalloc(&table, 256_KiB)); }
    float* table = nullptr;
};

const Lookup lookup;

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 64_KiB));
    check(cudaMemcpy(block, lookup.table, 64_KiB, cudaMemcpyDeviceToDevice));
    check(cudaFree(block));
}
