// tests/corpus/programs/failed_managed_flags.cu — managed memory with flags that do not exist is
// refused, and the program goes on.
// truth: verdict clean
// truth: failed function=ask result=CUDA_ERROR_INVALID_VALUE calls=3
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void ask()
{
    CUdeviceptr block = 0;
    if (cuMemAllocManaged(&block, 1_MiB, 99) != CUDA_ERROR_INVALID_VALUE)
        std::_Exit(98);
    keep_frame();
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
    for (int turn = 0; turn < 3; ++turn)
        ask();
    check(cudaFree(block));
}
