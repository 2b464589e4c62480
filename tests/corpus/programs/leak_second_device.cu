// tests/corpus/programs/leak_second_device.cu — the same function on two devices; only the second
// one's block stays.
// run: simulate=2x256MiB
// truth: verdict leaks
// truth: leak function=allocate memory=device blocks=1 bytes=77777 device=1
#include "tests/corpus/corpus.hpp"

void* allocate(int device)
{
    void* block = nullptr;
    check(cudaSetDevice(device));
    check(cudaMalloc(&block, 77777));
    return block;
}

int main()
{
    check(cudaFree(allocate(0)));
    allocate(1);
    check(cudaFree(allocate(1)));
}
