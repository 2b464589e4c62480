// tests/corpus/programs/leak_registered.cu — memory of the host is given back to libc while it is
// still registered.
// truth: verdict leaks
// truth: leak function=pin_batch memory=registered api=cudaHostRegister blocks=1 bytes=64KiB
#include "tests/corpus/corpus.hpp"

void* pin_batch()
{
    void* batch = std::aligned_alloc(4096, 64_KiB);
    check(cudaHostRegister(batch, 64_KiB, cudaHostRegisterDefault));
    return batch;
}

int main()
{
    void* first = pin_batch();
    void* second = pin_batch();
    check(cudaHostUnregister(first));
    std::free(first);
    std::free(second); // the registration stays
}
